#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t *b;
static int cells[4], sums[4];
static void *run(void *p) {
    int me = (int)(long)p;
    for (int round = 0; round < 20; round++) {
        cells[me] = round;
        pthread_barrier_wait(b);
        for (int i = 0; i < 4; i++) sums[me] += cells[i];
        pthread_barrier_wait(b);
    }
    return 0;
}
int main(void) {
    b = malloc(sizeof *b);
    pthread_barrier_init(b, 0, 4);
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, run, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    pthread_barrier_destroy(b);
    free(b);
    return sums[0] != 4 * 190;
}
