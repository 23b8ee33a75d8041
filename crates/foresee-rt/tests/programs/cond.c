#include <errno.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int queued, taken, data[100];
static void *consume(void *p) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&m);
        while (taken == queued) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += 1000000;
            if (until.tv_nsec >= 1000000000) { until.tv_nsec -= 1000000000; until.tv_sec++; }
            if (i % 2) pthread_cond_wait(&c, &m); else pthread_cond_timedwait(&c, &m, &until);
        }
        data[taken++]++;
        pthread_mutex_unlock(&m);
    }
    return p;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, consume, 0);
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&m);
        data[i] = i;
        queued++;
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&m);
        if (i % 10 == 0) nanosleep(&(struct timespec){0, 200000}, 0);
    }
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return taken != 100;
}
