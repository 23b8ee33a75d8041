// A mutex is destroyed while another thread may still take it.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int begun;
static pthread_mutex_t mutex;
static void *takes(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    atomic_store_explicit(&begun, 1, memory_order_relaxed);
    return unused;
}
int main(void) {
    pthread_mutex_init(&mutex, 0);
    pthread_t thread;
    pthread_create(&thread, 0, takes, 0);
    while (!atomic_load_explicit(&begun, memory_order_relaxed)) {}
    pthread_mutex_destroy(&mutex);
    pthread_join(thread, 0);
    return 0;
}
