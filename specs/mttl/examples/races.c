/* OrderedAccesses: one thread writes, another reads, with a lock or without. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_locked, seen;
int SHARED;

static void *writer(void *unused) {
    if (is_locked)
        pthread_mutex_lock(&lock);
    SHARED = 1;
    if (is_locked)
        pthread_mutex_unlock(&lock);
    return unused;
}

static void *reader(void *unused) {
    usleep(100000);
    if (is_locked)
        pthread_mutex_lock(&lock);
    seen = SHARED;
    if (is_locked)
        pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    is_locked = argc > 1 && !strcmp(argv[1], "kept");
    pthread_t one, other;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&other, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    SHARED = seen + 1; /* Ordered by the joins: the end of a thread is the last that is known of it. */
    return SHARED != 2;
}
