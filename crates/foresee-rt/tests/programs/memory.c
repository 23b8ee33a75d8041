#include <pthread.h>
#include <stdlib.h>
static void touch(volatile int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }
static void *run(void *p) {
    for (int i = 1; i < 200; i++) {
        int *block = malloc(40);
        touch(block, 10);
        block = realloc(block, 400);
        touch(block, 100);
        volatile int local[8];
        touch(local, 8);
        free(block);
    }
    return p;
}
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int ended;
static void *detached(void *p) { run(p); pthread_mutex_lock(&m); ended++; pthread_mutex_unlock(&m); return p; }
int main(void) {
    pthread_t t;
    for (int round = 0; round < 10; round++) {
        pthread_create(&t, 0, detached, 0);
        pthread_detach(t);
    }
    for (;;) {
        pthread_mutex_lock(&m);
        int all = ended == 10;
        pthread_mutex_unlock(&m);
        if (all) return 0;
        free(malloc(40));
    }
}
