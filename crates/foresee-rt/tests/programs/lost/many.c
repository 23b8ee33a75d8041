// So many threads as the first argument says, and so many at once as the second; each does little.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static int counter;
static void *work(void *unused) {
    pthread_mutex_lock(&guard);
    counter++;
    pthread_mutex_unlock(&guard);
    if (pthread_barrier_wait(&all) > 0) abort();
    return unused;
}
int main(int count, char **words) {
    if (count != 3) return 2;
    int threads = atoi(words[1]), at_once = atoi(words[2]);
    pthread_t *handles = malloc(at_once * sizeof *handles);
    pthread_barrier_init(&all, 0, at_once);
    for (int done = 0; done < threads; done += at_once) {
        for (int i = 0; i < at_once; i++) if (pthread_create(&handles[i], 0, work, 0)) return 3;
        for (int i = 0; i < at_once; i++) pthread_join(handles[i], 0);
    }
    printf("%d\n", counter);
    free(handles);
}
