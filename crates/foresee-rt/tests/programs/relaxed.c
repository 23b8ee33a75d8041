#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
int message;
static atomic_int ready;
static void *run(void *p) {
    while (!atomic_load_explicit(&ready, memory_order_relaxed)) sched_yield();
    return (void *)(long)message;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    message = 1;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    pthread_join(t, 0);
    return 0;
}
