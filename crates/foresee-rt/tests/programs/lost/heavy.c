// Records as much as it can until it is killed. Each thread counts what it has done in a file that is named by the argument.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static atomic_long passed;
static long counter, *done;
static void *little(void *unused) { atomic_fetch_add(&passed, 1); return unused; }
static void *work(void *own) {
    volatile long *mine = own;
    for (;;) {
        pthread_mutex_lock(&guard);
        counter++;
        pthread_mutex_unlock(&guard);
        free(malloc(100));
        if (*mine % 64 == 63) {
            pthread_t thread;
            if (pthread_create(&thread, 0, little, 0)) abort();
            pthread_join(thread, 0);
        }
        *mine = *mine + 1;
    }
}
int main(int count, char **words) {
    int file = count > 1 ? open(words[1], O_RDWR | O_CREAT, 0666) : -1;
    if (ftruncate(file, 4096)) return 2;
    done = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) {
        if (pthread_create(&threads[i], 0, work, &done[8 * i])) return 3;
        pthread_setname_np(threads[i], (const char *[]){"first", "second", "third"}[i]);
    }
    done[24] = 1;
    for (;;) pause();
}
