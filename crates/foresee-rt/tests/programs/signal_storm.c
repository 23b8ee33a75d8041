// Signals arrive all the time on a thread that does nothing but accesses and atomics. Only the handler stores to an atomic.
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
atomic_long last, work;
static long plain;
static volatile sig_atomic_t count;
static void handle(int signal) {
    (void)signal;
    count++;
    atomic_store(&last, count);
}
int main(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGALRM, &action, 0);
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, 0);
    while (count < 1000)
        for (int i = 0; i < 50; i++) {
            plain++;
            atomic_fetch_add(&work, 1);
        }
    setitimer(ITIMER_REAL, &never, 0);
    printf("%ld", (long)count);
    return 0;
}
