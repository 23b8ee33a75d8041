// Signals hand over to their handlers, which run in the middle of anything, and to whoever waits for them.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static int data;
static pthread_t receiver;
static volatile sig_atomic_t handled;

static void check(int good) {
    if (!good) abort();
}
static void handle(int signal) {
    (void)signal;
    check(data == 7);
    handled = 1;
}
static void signals_thread(void) { check(pthread_kill(receiver, SIGUSR1) == 0); }
static void spins(void) { while (!handled) usleep(10); }
static void sets_timer(void) {
    struct itimerval soon = {{0, 0}, {0, 1000}};
    check(setitimer(ITIMER_REAL, &soon, 0) == 0);
}
static void waits_for_alarm(void) {
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    check(sigwait(&set, &signal) == 0);
}

static void (*give)(void);
static void *giver(void *unused) {
    usleep(500);
    data = 7;
    give();
    return unused;
}
static void hand_over(void (*giving)(void), void (*getting)(void)) {
    pthread_t thread;
    data = 0;
    handled = 0;
    give = giving;
    pthread_create(&thread, 0, giver, 0);
    getting();
    check(data == 7);
    data = 1;
    pthread_join(thread, 0);
}

int main(void) {
    receiver = pthread_self();
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    struct sigaction action = {.sa_handler = handle}, found;
    check(sigaction(SIGUSR1, &action, 0) == 0);
    check(sigaction(SIGUSR1, 0, &found) == 0 && found.sa_handler == handle);
    for (int i = 0; i < 5; i++) hand_over(signals_thread, spins);
    check(signal(SIGUSR1, SIG_IGN) == handle);
    check(signal(SIGUSR1, handle) == SIG_IGN);
    hand_over(signals_thread, spins);
    hand_over(sets_timer, waits_for_alarm);
    return 0;
}
