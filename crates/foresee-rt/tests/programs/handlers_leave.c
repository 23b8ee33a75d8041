// Handlers that do not return to what they interrupted: they jump, end their thread, are cancelled, fork. Only they store to an atomic.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum how { JUMPS, EXITS, IS_CANCELLED, FORKS, WAYS };
atomic_long handled, work, ready, cleaned;
static _Thread_local sigjmp_buf back;
static _Thread_local volatile enum how how;

static void check(int good) {
    if (!good) abort();
}
static void handle(int signal) {
    (void)signal;
    atomic_store(&handled, 1);
    int status;
    switch (how) {
    case JUMPS: siglongjmp(back, 1);
    case EXITS: pthread_exit(0);
    case IS_CANCELLED:
        for (;;) sleep(1);
    default: {
        pid_t child = fork();
        if (child == 0) {
            atomic_fetch_add(&work, 1);
            _exit(5);
        }
        check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
        siglongjmp(back, 1);
    }
    }
}
static void clean(void *unused) {
    (void)unused;
    atomic_fetch_add(&cleaned, 1);
}
static void *runs(void *way) {
    how = (enum how)(long)way;
    pthread_cleanup_push(clean, 0);
    if (sigsetjmp(back, 1) == 0) {
        atomic_fetch_add(&ready, 1);
        for (;;) atomic_fetch_add(&work, 1);
    }
    atomic_fetch_add(&work, 1);
    pthread_cleanup_pop(1);
    return 0;
}
int main(void) {
    struct sigaction action = {.sa_handler = handle};
    long threads = 0;
    sigaction(SIGUSR1, &action, 0);
    for (int i = 0; i < 5; i++)
        for (long way = 0; way < WAYS; way++) {
            pthread_t thread;
            pthread_create(&thread, 0, runs, (void *)way);
            threads++;
            while (atomic_load(&ready) < threads) usleep(10);
            usleep(rand() % 30);
            pthread_kill(thread, SIGUSR1);
            if (way == IS_CANCELLED) {
                usleep(1000);
                pthread_cancel(thread);
            }
            pthread_join(thread, 0);
        }
    check(cleaned == threads);
    printf("%ld", threads);
    return 0;
}
