#include "breaks.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static void *nothing(void *argument) { return argument; }

static void threads(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    check(pthread_create(&thread, NULL, nothing, NULL) == 0);
    if (breaks("ThreadJoinedAfterDetach")) pthread_detach(thread);
    if (breaks("ThreadJoinedAfterDetach")) pthread_detach(thread);
    if (breaks("ThreadLeftAlone") || breaks("ThreadJoinedAfterDetach")) {
        usleep(20000);
    } else {
        pthread_join(thread, NULL);
        if (breaks("ThreadJoinedTwice")) pthread_detach(thread);
    }
    check(pthread_attr_init(&attributes) == 0);
    check(pthread_create(&thread, &attributes, nothing, NULL) == 0);
    pthread_join(thread, NULL);
    if (!breaks("AttributesLeft")) pthread_attr_destroy(&attributes);
}

static void mutexes(void) {
    static pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, NULL);
    if (breaks("MutexInitialisedTwice")) pthread_mutex_init(&mutex, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    if (breaks("MutexDestroyedTwice")) pthread_mutex_destroy(&mutex);
    if (breaks("MutexUsedAfterDestroy")) pthread_mutex_trylock(&mutex);
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_destroy(&mutex);
}

static void others(void) {
    static pthread_cond_t condition;
    pthread_cond_init(&condition, NULL);
    pthread_cond_signal(&condition);
    pthread_cond_destroy(&condition);
    if (breaks("ConditionUsedAfterDestroy")) pthread_cond_signal(&condition);

    static pthread_rwlock_t lock;
    pthread_rwlock_init(&lock, NULL);
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_destroy(&lock);
    if (breaks("RwlockUsedAfterDestroy")) pthread_rwlock_tryrdlock(&lock);

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
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    threads();
    mutexes();
    others();
    return 0;
}
