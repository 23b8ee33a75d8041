#include <pthread.h>
#include <sys/resource.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int counter;
static void *run(void *p) {
    for (int i = 0; i < 50000; i++) { pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m); }
    return p;
}
int main(void) {
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return counter != 100000;
}
