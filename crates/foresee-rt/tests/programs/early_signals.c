// Signals come before the routine of a thread has begun. Only their handlers store to an atomic.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
atomic_long handled, times;
static void handle(int signal) {
    (void)signal;
    atomic_fetch_add(&times, 1);
    atomic_store(&handled, 1);
}
static void *runs(void *unused) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, 0, &now);
    if (sigismember(&now, SIGUSR1) || !sigismember(&now, SIGUSR2) || sigismember(&now, SIGTERM)) abort();
    return unused;
}
int main(void) {
    struct sigaction action = {.sa_handler = handle};
    sigset_t blocked;
    sigaction(SIGUSR1, &action, 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, 0);
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, runs, 0);
        for (int k = 0; k < 3; k++) pthread_kill(thread, SIGUSR1);
        pthread_join(thread, 0);
    }
    printf("%ld", (long)times);
    return 0;
}
