/* OneOwner: a producer hands an object to a consumer; with `broken` it still counts itself as its owner when it does. */
#include <foresee.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed_over = PTHREAD_COND_INITIALIZER;
static int is_broken, is_ready;
int OBJECT;

static void *producer(void *unused) {
    FORESEE_LOCAL(owns, 1);
    OBJECT = 1;
    if (!is_broken)
        FORESEE_LOCAL(owns, 0);
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&handed_over);
    pthread_mutex_unlock(&lock);
    if (is_broken)
        FORESEE_LOCAL(owns, 0);
    return unused;
}

static void *consumer(void *unused) {
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&handed_over, &lock);
    pthread_mutex_unlock(&lock);
    FORESEE_LOCAL(owns, 1);
    OBJECT = OBJECT + 1;
    FORESEE_LOCAL(owns, 0);
    return unused;
}

int main(int argc, char **argv) {
    is_broken = argc > 1 && !strcmp(argv[1], "broken");
    pthread_t one, other;
    pthread_create(&other, NULL, consumer, NULL);
    pthread_create(&one, NULL, producer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return OBJECT != 2;
}
