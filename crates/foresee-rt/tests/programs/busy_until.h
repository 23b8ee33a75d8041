/* Two threads count under a mutex; after 1,000 rounds of its own the main thread does END. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int counter, mine;
static void *run(void *p) {
    for (;;) { pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m); }
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    for (int i = 0; i < 1000; i++) { mine = i; pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m); }
    END;
    return 0;
}
