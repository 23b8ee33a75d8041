// Does more than there is room for.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void *work(void *unused) {
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&guard);
        counter++;
        pthread_mutex_unlock(&guard);
        free(malloc(10));
    }
    return unused;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return counter != 80000;
}
