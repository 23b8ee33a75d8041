// Signals arrive all the time, in the middle of the runtime, too. The handler touches memory, atomics and a pipe, and jumps out.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static atomic_int handled;
static volatile int plain;
static int ends[2], wrong;
static sigjmp_buf back;
static volatile sig_atomic_t jump;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void handle(int signal) {
    (void)signal;
    int before = errno;
    plain++;
    atomic_fetch_add(&handled, 1);
    if (write(ends[1], "x", 1) == 1) { char c; if (read(ends[0], &c, 1) != 1) wrong = 1; }
    errno = before;
    if (jump) { jump = 0; siglongjmp(back, 1); }
}
static void *work(void *unused) {
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&guard);
        counter++;
        pthread_mutex_unlock(&guard);
        free(malloc(100));
    }
    return unused;
}
static void deep(int n) { if (n) deep(n - 1); else { jump = 1; while (jump) plain++; } plain++; }
int main(void) {
    sigset_t mask;
    pthread_t thread;
    if (pipe(ends)) return 2;
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    sigemptyset(&mask);
    sigaddset(&mask, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &mask, 0);
    pthread_create(&thread, 0, work, 0);
    pthread_sigmask(SIG_UNBLOCK, &mask, 0);
    struct itimerval often = {{0, 100}, {0, 100}}, never = {0};
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; i < 3000; i++) {
        errno = i;
        pthread_mutex_lock(&guard);
        counter++;
        pthread_mutex_unlock(&guard);
        free(malloc(50));
        if (errno != i) wrong = 1;
    }
    if (sigsetjmp(back, 1) == 0) deep(10);
    setitimer(ITIMER_REAL, &never, 0);
    pthread_join(thread, 0);
    return wrong || counter != 6000 || handled == 0;
}
