// Threads that share nothing: each walks an array of its own, and takes a lock of its own now and then. Prints the processor time of an
// access in nanoseconds, of all threads together, so that it is the same for any number of threads unless they are in each other's way.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CELLS = 256, BETWEEN_LOCKS = 1000, ACCESSES_OF_ONE = 3 };

struct own {
    pthread_mutex_t lock;
    long cells[CELLS];
    char apart[128];
};

static long rounds;

static void *walk(void *given) {
    struct own *own = given;
    long sum = 0;
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < BETWEEN_LOCKS; i++) {
            own->cells[i % CELLS] += i;
            sum += own->cells[i * 7 % CELLS];
        }
        pthread_mutex_lock(&own->lock);
        own->cells[0]++;
        pthread_mutex_unlock(&own->lock);
    }
    own->cells[1] = sum;
    return NULL;
}

int main(int count, char **arguments) {
    int threads = count > 2 ? atoi(arguments[1]) : 1;
    rounds = count > 2 ? atol(arguments[2]) / BETWEEN_LOCKS : 1;
    struct own *all = calloc(threads, sizeof *all);
    pthread_t *ids = calloc(threads, sizeof *ids);
    for (int i = 0; i < threads; i++) {
        pthread_mutex_init(&all[i].lock, NULL);
        pthread_create(&ids[i], NULL, walk, &all[i]);
    }
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    struct timespec took;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &took);
    double accesses = (double)ACCESSES_OF_ONE * BETWEEN_LOCKS * rounds * threads;
    printf("%.3f\n", (took.tv_sec * 1e9 + took.tv_nsec) / accesses);
    return 0;
}
