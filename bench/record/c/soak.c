/* Runs for so many seconds and never does anything new: threads that lock so many times at a go, count, allocate, and come and go. A few
   times a second variables change that a property speaks of. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3, SLOTS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, slots[SLOTS];
static atomic_int ended;
static volatile int pressure, valve;
static int rounds;

static void *guest(void *given) {
    long *block = malloc(64 * sizeof *block);
    for (int i = 0; i < 64; i++) block[i] = i;
    pthread_mutex_lock(&lock);
    total += block[63];
    pthread_mutex_unlock(&lock);
    free(block);
    return given;
}

static void *worker(void *given) {
    unsigned seed = (unsigned)(size_t)given;
    while (!ended) {
        for (int i = 0; i < rounds; i++) {
            pthread_mutex_lock(&lock);
            slots[(seed = seed * 1103515245 + 12345) % SLOTS]++;
            total++;
            pthread_mutex_unlock(&lock);
        }
        pthread_t other;
        if (!pthread_create(&other, 0, guest, 0)) pthread_join(other, 0);
        usleep(2000);
    }
    return given;
}

static void *controller(void *given) {
    for (int round = 0; !ended; round++) {
        pthread_mutex_lock(&lock);
        pressure = round % 3;
        valve = pressure == 2;
        pthread_mutex_unlock(&lock);
        usleep(20000);
    }
    return given;
}

int main(int count, char **args) {
    time_t end = time(0) + (count > 1 ? atoi(args[1]) : 10);
    pthread_t threads[WORKERS + 1];
    rounds = count > 2 ? atoi(args[2]) : 100;
    for (size_t i = 0; i < WORKERS; i++) pthread_create(&threads[i], 0, worker, (void *)(i + 1));
    pthread_create(&threads[WORKERS], 0, controller, 0);
    while (time(0) < end) usleep(100000);
    ended = 1;
    for (int i = 0; i <= WORKERS; i++) pthread_join(threads[i], 0);
    printf("%ld\n", total);
    return 0;
}
