/* ExclusiveSections: the paper's critical(), which counts, with z and y in between.
 * Without a lock the run shows no overlap, as one thread comes long after the other: what one knows of the other tells. */
#include <foresee.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_locked, x, y, z;

static void critical(void) {
    if (is_locked)
        pthread_mutex_lock(&lock);
    FORESEE_LOCAL(critical, 1);
    x++;
    FORESEE_LOCAL(critical, 0);
    if (is_locked)
        pthread_mutex_unlock(&lock);
}

static void *first(void *unused) {
    critical();
    z = 9;
    y = z + 2;
    return unused;
}

static void *second(void *unused) {
    usleep(100000);
    critical();
    return unused;
}

int main(int argc, char **argv) {
    is_locked = argc > 1 && !strcmp(argv[1], "kept");
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return x != 2;
}
