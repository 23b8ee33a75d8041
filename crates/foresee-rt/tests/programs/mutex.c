#include <pthread.h>
static int counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p) {
    for (int i = 0; i < 100; i++) { pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m); }
    return p;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return counter != 400;
}
