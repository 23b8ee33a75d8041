// Programs that hang, and programs that only look so when they are ended: the first word says which.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int count;
static sem_t semaphore;

static void *take(void *unused) {
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *wait_for_good(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *wait_long(void *unused) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *work(void *unused) {
    for (;;) usleep(1000);
    return unused;
}

static void *lower(void *unused) {
    sem_wait(&semaphore);
    return unused;
}

static void *lower_and_raise(void *unused) {
    for (;;) {
        sem_wait(&semaphore);
        sem_post(&semaphore);
    }
    return unused;
}

static void *take_again_and_again(void *of) {
    for (;;) {
        pthread_mutex_lock(of);
        pthread_mutex_lock(of);
        count++;
        pthread_mutex_unlock(of);
        pthread_mutex_unlock(of);
    }
    return 0;
}

static pthread_t start(void *(*routine)(void *), void *with) {
    pthread_t thread;
    if (pthread_create(&thread, 0, routine, with)) abort();
    return thread;
}

// The other process never notifies, and nobody here knows.
static void wait_for_child(void) {
    struct Shared {
        pthread_mutex_t mutex;
        pthread_cond_t condition;
    } *shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&of_condition);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &of_mutex);
    pthread_cond_init(&shared->condition, &of_condition);
    pthread_mutex_lock(&shared->mutex);
    pthread_cond_wait(&shared->condition, &shared->mutex);
}

int main(int words, char **word) {
    const char *which = words > 1 ? word[1] : "";
    if (strcmp(which, "again") == 0) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
    } else if (strcmp(which, "ended") == 0) {
        pthread_join(start(take, 0), 0);
        pthread_mutex_lock(&mutex);
    } else if (strcmp(which, "unnotified") == 0) {
        wait_for_good(0);
    } else if (strcmp(which, "joined") == 0) {
        pthread_join(start(wait_for_good, 0), 0);
    } else if (strcmp(which, "timed") == 0) {
        pthread_join(start(wait_long, 0), 0);
    } else if (strcmp(which, "busy") == 0) {
        start(work, 0);
        pthread_join(start(wait_for_good, 0), 0);
    } else if (strcmp(which, "exits") == 0) {
        // It ends by itself, with the lock.
        start(wait_for_good, 0);
        usleep(100000);
        pthread_mutex_lock(&mutex);
        start(take, 0);
        usleep(100000);
    } else if (strcmp(which, "recursive") == 0) {
        pthread_mutexattr_t of_mutex;
        pthread_mutex_t recursive;
        pthread_mutexattr_init(&of_mutex);
        pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&recursive, &of_mutex);
        pthread_join(start(take_again_and_again, &recursive), 0);
    } else if (strcmp(which, "unraised") == 0) {
        sem_init(&semaphore, 0, 1);
        sem_wait(&semaphore);
        sem_post(&semaphore);
        sem_init(&semaphore, 0, 2);
        for (int i = 0; i < 3; i++) start(lower, 0);
        usleep(100000);
        lower(0);
    } else if (strcmp(which, "lowered_twice") == 0) {
        sem_init(&semaphore, 0, 1);
        lower(0);
        lower(0);
    } else if (strcmp(which, "raised") == 0) {
        sem_init(&semaphore, 0, 2);
        lower_and_raise(0);
    } else if (strcmp(which, "raised_by_turns") == 0) {
        sem_init(&semaphore, 0, 1);
        start(lower_and_raise, 0);
        lower_and_raise(0);
    } else if (strcmp(which, "of_processes") == 0) {
        sem_init(&semaphore, 1, 0);
        lower(0);
    } else if (strcmp(which, "process") == 0) {
        wait_for_child();
    }
    return 0;
}
