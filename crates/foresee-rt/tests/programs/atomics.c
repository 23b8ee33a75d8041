#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static int message, fenced;
static atomic_int ready, flag;
static atomic_long count;
static atomic_uchar bits;
static void *run(void *p) {
    for (int i = 0; i < 500; i++) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
        unsigned char old = atomic_load(&bits);
        while (!atomic_compare_exchange_weak(&bits, &old, old ^ 1)) {}
    }
    while (!atomic_load_explicit(&ready, memory_order_acquire)) sched_yield();
    int seen = message;
    while (!atomic_load_explicit(&flag, memory_order_relaxed)) sched_yield();
    atomic_thread_fence(memory_order_acquire);
    return (void *)(long)(seen + fenced - 3);
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, run, 0);
    message = 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
    fenced = 2;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    long wrong = 0;
    for (int i = 0; i < 4; i++) { void *r; pthread_join(t[i], &r); wrong |= (long)r; }
    return wrong || count != 2000 || bits != 0;
}
