/* ReadersAndWriters: a table under a reader-writer lock; with `broken` the writer takes the lock as a reader would. */
#include <foresee.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int is_broken, table, seen;

static void *reader(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_rwlock_rdlock(&lock);
        FORESEE_LOCAL(reading, 1);
        int now = table;
        FORESEE_LOCAL(reading, 0);
        pthread_rwlock_unlock(&lock);
        seen = now;
        usleep(60000);
    }
    return unused;
}

static void *writer(void *unused) {
    usleep(30000);
    for (int i = 0; i < 2; i++) {
        if (is_broken)
            pthread_rwlock_rdlock(&lock);
        else
            pthread_rwlock_wrlock(&lock);
        FORESEE_LOCAL(writing, 1);
        table = table + 1;
        FORESEE_LOCAL(writing, 0);
        pthread_rwlock_unlock(&lock);
        usleep(60000);
    }
    return unused;
}

int main(int argc, char **argv) {
    is_broken = argc > 1 && !strcmp(argv[1], "broken");
    pthread_t one, other;
    pthread_create(&one, NULL, reader, NULL);
    pthread_create(&other, NULL, writer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return table != 2 || seen > 2;
}
