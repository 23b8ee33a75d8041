// Memory is given back while another thread may still read it.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
static atomic_int begun;
static int sum;
static void *reads(void *at) {
    sum += *(volatile int *)at;
    atomic_store_explicit(&begun, 1, memory_order_relaxed);
    return 0;
}
int main(void) {
    void *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    pthread_create(&thread, 0, reads, at);
    while (!atomic_load_explicit(&begun, memory_order_relaxed)) {}
    munmap(at, 4096);
    pthread_join(thread, 0);
    return 0;
}
