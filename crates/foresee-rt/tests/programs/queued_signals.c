// Real-time signals are queued for a thread that is busy with atomics, many at the same moment. Their handlers run as the kernel runs
// them: each once, in order, with its value, signals blocked, and on its stack. Only they store to an atomic.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

enum { KINDS = 6, EACH = 200 };
atomic_long handled, work;
// Of each kind its own handler counts: handlers of different kinds interrupt each other.
static volatile long seen[KINDS];
static volatile int running[KINDS];
static pthread_t receiver;
static stack_t stack;

#define CHECK(good) do { if (!(good)) { fprintf(stderr, "line %d\n", __LINE__); abort(); } } while (0)
static long count(void) {
    long all = 0;
    for (int kind = 0; kind < KINDS; kind++) all += seen[kind];
    return all;
}
static int is_on_stack(void *at) {
    return (char *)at >= (char *)stack.ss_sp && (char *)at < (char *)stack.ss_sp + stack.ss_size;
}
static void handle(int signal, siginfo_t *info, void *context) {
    int kind = signal - SIGRTMIN;
    ucontext_t *interrupted = context;
    sigset_t now;
    CHECK(info->si_signo == signal && info->si_code == SI_QUEUE && info->si_pid == getpid());
    CHECK(info->si_value.sival_int == seen[kind]);
    CHECK(!running[kind]);
    running[kind] = 1;
    CHECK(kind % 2 == 0 || is_on_stack(&kind));
    pthread_sigmask(SIG_BLOCK, 0, &now);
    CHECK(sigismember(&now, signal) && (kind != 2 || sigismember(&now, SIGUSR1)));
    CHECK(!sigismember(&interrupted->uc_sigmask, signal) && interrupted->uc_mcontext.gregs[REG_RIP]);
    seen[kind]++;
    atomic_store(&handled, count());
    errno = 77;
    running[kind] = 0;
}
static void *sends(void *unused) {
    for (int i = 0; i < EACH; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            union sigval value = {.sival_int = i};
            while (pthread_sigqueue(receiver, SIGRTMIN + kind, value)) usleep(50);
            if (i % 50 == 0) usleep(100);
        }
    return unused;
}
int main(void) {
    receiver = pthread_self();
    stack = (stack_t){.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, 0);
    for (int kind = 0; kind < KINDS; kind++) {
        int flags = SA_SIGINFO | SA_RESTART | (kind % 2 ? SA_ONSTACK : 0);
        struct sigaction action = {.sa_sigaction = handle, .sa_flags = flags};
        if (kind == 2) sigaddset(&action.sa_mask, SIGUSR1);
        sigaction(SIGRTMIN + kind, &action, 0);
    }
    pthread_t thread;
    pthread_create(&thread, 0, sends, 0);
    while (count() < KINDS * EACH)
        for (int i = 0; i < 50; i++) atomic_fetch_add(&work, 1);
    pthread_join(thread, 0);
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, 0, &now);
    for (int kind = 0; kind < KINDS; kind++) CHECK(!sigismember(&now, SIGRTMIN + kind));
    printf("%ld", count());
    return 0;
}
