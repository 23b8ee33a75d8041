#include "breaks.h"
#include <pthread.h>
#include <threads.h>
#include <semaphore.h>
#include <unistd.h>

static void *nothing(void *argument) { return argument; }

static void *slow(void *argument) {
    usleep(20000);
    return argument;
}

static void threads(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    check(pthread_create(&thread, NULL, slow, NULL) == 0);
    if (breaks("ThreadJoinedAfterDetach")) {
        pthread_detach(thread);
        pthread_join(thread, NULL);
    }
    if (breaks("ThreadLeftAlone") || breaks("ThreadJoinedAfterDetach")) {
        usleep(40000);
    } else {
        pthread_join(thread, NULL);
    }
    check(pthread_attr_init(&attributes) == 0);
    check(pthread_create(&thread, &attributes, nothing, NULL) == 0);
    pthread_join(thread, NULL);
    if (!breaks("AttributesLeft")) pthread_attr_destroy(&attributes);
}

static void mutexes(void) {
    static pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    if (breaks("MutexUsedAfterDestroy")) pthread_mutex_trylock(&mutex);
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_destroy(&mutex);
}

static void others(void) {
    static pthread_cond_t condition;
    pthread_cond_init(&condition, NULL);
    pthread_cond_signal(&condition);
    pthread_cond_destroy(&condition);

    static pthread_rwlock_t lock;
    pthread_rwlock_init(&lock, NULL);
    pthread_rwlock_rdlock(&lock);
    if (!breaks("RwlockUsedAfterDestroy")) pthread_rwlock_unlock(&lock);
    pthread_rwlock_destroy(&lock);
    if (breaks("RwlockUsedAfterDestroy")) pthread_rwlock_unlock(&lock);

    static pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 1);
    pthread_barrier_wait(&barrier);
    pthread_barrier_destroy(&barrier);
    if (breaks("BarrierUsedAfterDestroy")) {
        /* May wait for ever. */
        alarm(1);
        pthread_barrier_wait(&barrier);
    }

    static sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    sem_post(&semaphore);
    sem_wait(&semaphore);
    sem_destroy(&semaphore);
    if (breaks("SemaphoreUsedAfterDestroy")) sem_post(&semaphore);

    pthread_key_t key;
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, &key);
    pthread_key_delete(key);
    if (breaks("KeyUsedAfterDelete")) pthread_getspecific(key);
    /* It is likely to get the number of the one that is gone. */
    tss_t other;
    tss_create(&other, NULL);
    tss_set(other, &other);
    check(tss_get(other) != NULL);
    tss_delete(other);
}

/* Locals that are initialised without a call may be where others were destroyed. */
static void __attribute__((noinline)) local(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&condition);
    pthread_mutex_destroy(&mutex);
}

static void *detached(void *argument) {
    pthread_detach(pthread_self());
    return argument;
}

/* Threads may be detached before who creates them knows them, with the numbers of others that were. */
static void detach_themselves(void) {
    for (int round = 0; round < 4; round++) {
        pthread_t thread;
        check(pthread_create(&thread, NULL, detached, NULL) == 0);
        usleep(1000);
    }
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    threads();
    mutexes();
    others();
    local();
    local();
    detach_themselves();
    return 0;
}
