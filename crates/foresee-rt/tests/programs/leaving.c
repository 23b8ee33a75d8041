// Functions and threads that are left by other ways than a return.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>
static jmp_buf back;
static int reached, cleaned, shared;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
__attribute__((noinline)) static void deep(int n) {
    if (n) deep(n - 1);
    else longjmp(back, 1);
    reached++;
}
static void jumps(void) {
    for (volatile int i = 0; i < 3; i++)
        if (setjmp(back) == 0) deep(5);
}
static void clean(void *mutex) { cleaned++; shared++; pthread_mutex_unlock(mutex); }
static void *waits(void *ready) {
    pthread_mutex_lock(&guard);
    pthread_cleanup_push(clean, &guard);
    shared = 1;
    __atomic_store_n((int *)ready, 1, __ATOMIC_RELEASE);
    for (;;) pthread_cond_wait(&never, &guard);
    pthread_cleanup_pop(1);
    return 0;
}
static void *exits(void *unused) { pthread_exit(unused); }
int main(void) {
    static int ready;
    jumps();
    pthread_t a, b, c;
    pthread_create(&a, 0, waits, &ready);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) usleep(100);
    pthread_mutex_lock(&guard);
    shared++;
    pthread_mutex_unlock(&guard);
    pthread_cancel(a);
    void *result;
    pthread_join(a, &result);
    pthread_mutex_lock(&guard);
    shared++;
    pthread_mutex_unlock(&guard);
    // Whatever is open is not the program's to keep: the trace is.
    for (int fd = 3; fd < 2000; fd++) close(fd);
    close_range(3, ~0u, 0);
    pthread_create(&b, 0, exits, &ready);
    pthread_join(b, 0);
    pthread_create(&c, 0, exits, &ready);
    pthread_detach(c);
    return !(reached == 0 && cleaned == 1 && result == PTHREAD_CANCELED && shared == 4);
}
