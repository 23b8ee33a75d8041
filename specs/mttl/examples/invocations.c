/* AtomicInvocations: blocks under a lock; with `broken` the second one of a thread gives the lock up in the middle. */
#include <foresee.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_broken;
static long checking = 100, saving = 100;

static void transfer(int invocation, long amount) {
    pthread_mutex_lock(&lock);
    FORESEE_LOCAL(invocation, invocation);
    checking = checking - amount;
    if (is_broken && invocation == 2) {
        pthread_mutex_unlock(&lock);
        usleep(200000);
        pthread_mutex_lock(&lock);
    }
    saving = saving + amount;
    FORESEE_LOCAL(invocation, 0);
    pthread_mutex_unlock(&lock);
}

static void *twice(void *unused) {
    transfer(1, 10);
    transfer(2, 20);
    return unused;
}

static void *once(void *unused) {
    usleep(100000);
    transfer(1, 30);
    return unused;
}

int main(int argc, char **argv) {
    is_broken = argc > 1 && !strcmp(argv[1], "broken");
    pthread_t one, other;
    pthread_create(&one, NULL, twice, NULL);
    pthread_create(&other, NULL, once, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return checking + saving != 200;
}
