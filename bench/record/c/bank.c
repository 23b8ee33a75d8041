/* Two tellers move money between two accounts under one lock, each transfer an atomic block. Prints the nanoseconds of processor time that one takes. */
#include <foresee.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long checking, saving;
static long transfers;

static void *teller(void *unused) {
    for (long number = 1; number <= transfers / 2; number++) {
        pthread_mutex_lock(&lock);
        FORESEE_LOCAL(invocation, number);
        checking = checking - number % 50;
        saving = saving + number % 50;
        FORESEE_LOCAL(invocation, 0);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv) {
    transfers = argc > 1 ? atol(argv[1]) : 2000;
    pthread_t one, other;
    pthread_create(&one, NULL, teller, NULL);
    pthread_create(&other, NULL, teller, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    printf("%f\n", (time.tv_sec * 1e9 + time.tv_nsec) / transfers);
    return checking + saving != 0;
}
