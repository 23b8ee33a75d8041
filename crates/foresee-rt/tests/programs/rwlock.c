#include <pthread.h>
static int value, sums[4];
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static void *run(void *p) {
    int me = (int)(long)p;
    for (int i = 0; i < 50; i++) {
        if (i % 5 == me) { pthread_rwlock_wrlock(&l); value++; }
        else { if (i % 7 || pthread_rwlock_tryrdlock(&l)) pthread_rwlock_rdlock(&l); sums[me] += value; }
        pthread_rwlock_unlock(&l);
    }
    return 0;
}
int main(void) {
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, run, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return value != 40;
}
