/* ExclusiveSections: the paper's critical(), which counts, with z and y in between.
 * Without a lock the run shows no overlap, as one thread comes long after the other: what one knows of the other tells.
 * With `apart`, each thread counts for itself: they share nothing, so that nobody knows of anybody. */
#include <foresee.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_locked, is_apart, x, x_of_second, y, z;

static void critical(int *count) {
    if (is_locked)
        pthread_mutex_lock(&lock);
    FORESEE_LOCAL(critical, 1);
    (*count)++;
    FORESEE_LOCAL(critical, 0);
    if (is_locked)
        pthread_mutex_unlock(&lock);
}

static void *first(void *unused) {
    critical(&x);
    z = 9;
    y = z + 2;
    return unused;
}

static void *second(void *unused) {
    usleep(100000);
    critical(is_apart ? &x_of_second : &x);
    return unused;
}

int main(int argc, char **argv) {
    is_locked = argc > 1 && !strcmp(argv[1], "kept");
    is_apart = argc > 1 && !strcmp(argv[1], "apart");
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return x + x_of_second != 2;
}
