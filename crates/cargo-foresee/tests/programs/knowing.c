// What threads know of each other where that is easily missed. The first argument says which case; all but `missed` and `deeper` keep the properties of `knowing.rv`.
#include <foresee.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int x, z;
static int other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *object;

static void pass(int tenths) { usleep(100000 * tenths); }

static void both(void *(*one)(void *), void *(*two)(void *)) {
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
}

// An attempt that fails tells nothing of what the holder does.
static void *holds(void *u) {
    pthread_mutex_lock(&lock);
    FORESEE_LOCAL(critical, 1);
    pass(2);
    FORESEE_LOCAL(critical, 0);
    pthread_mutex_unlock(&lock);
    return u;
}
static void *tries(void *u) {
    pass(1);
    FORESEE_LOCAL(critical, 1);
    if (pthread_mutex_trylock(&lock)) other++;
    FORESEE_LOCAL(critical, 0);
    return u;
}

// Accesses that race are in the order in which they happened.
static void *writes_late(void *u) {
    FORESEE_LOCAL(critical, 1);
    pass(3);
    x = 1;
    pass(2);
    FORESEE_LOCAL(critical, 0);
    return u;
}
static void *reads_before(void *u) {
    pass(2);
    int seen = x;
    pass(2);
    FORESEE_LOCAL(critical, seen == 0);
    FORESEE_LOCAL(critical, 0);
    return u;
}
static void *reads_after(void *u) {
    pass(4);
    int seen = x;
    FORESEE_LOCAL(critical, seen == 1);
    FORESEE_LOCAL(critical, 0);
    return u;
}

// What threads synchronise by is another object where memory is used again.
static void *has_own_object(void *u) {
    pthread_mutex_t mutex;
    pthread_spinlock_t spin;
    sem_t semaphore;
    pthread_barrier_t barrier;
    FORESEE_LOCAL(critical, 1);
    if (!strcmp(object, "mutex")) {
        pthread_mutex_init(&mutex, 0);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    } else if (!strcmp(object, "spin")) {
        pthread_spin_init(&spin, 0);
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    } else if (!strcmp(object, "semaphore")) {
        sem_init(&semaphore, 0, 0);
        sem_post(&semaphore);
        sem_wait(&semaphore);
    } else if (!strcmp(object, "barrier")) {
        pthread_barrier_init(&barrier, 0, 1);
        pthread_barrier_wait(&barrier);
    } else {
        char text[] = "text";
        FILE *file = fmemopen(text, sizeof text, "r");
        fgetc(file);
        fclose(file);
    }
    return u;
}
static void detached(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, &attributes, has_own_object, 0);
        pass(2);
    }
}

// A handler between the call that tells of a write and the write does not see its value.
static void on_signal(int signal) {
    other += signal;
    FORESEE_LOCAL(seen, 1);
}
static volatile int stop;
static pthread_t counts;
static void *storm(void *u) {
    while (!stop) {
        pthread_kill(counts, SIGUSR1);
        for (volatile int i = 0; i < 3000; i++) { }
    }
    return u;
}
static void *count(void *u) {
    for (int n = 1; n < 30000; n++) {
        x = n;
        FORESEE_LOCAL(tick, n);
    }
    stop = 1;
    return u;
}
static void signals(void) {
    signal(SIGUSR1, on_signal);
    pthread_t sends;
    pthread_create(&counts, 0, count, 0);
    pthread_create(&sends, 0, storm, 0);
    pthread_join(sends, 0);
    pthread_join(counts, 0);
}

// So does a recovery.
static void look(const char *property, void *argument) {
    FORESEE_LOCAL(seen, 1);
    other += property == argument;
}
static void recovers(void) {
    FORESEE_ON_VIOLATION("leave", look, 0);
    FORESEE_LOCAL(wants, 1);
    x = 1;
    z = 2;
    FORESEE_LOCAL(wants, 2);
}

// A recovery that is left by a jump does not keep the next one from being called, however deep that is.
static __thread jmp_buf back;
static int calls;
static __thread int must_leave;
static void leave(const char *property, void *argument) {
    other += property == argument;
    if (++calls == 1) longjmp(back, 1);
    must_leave = 1;
}
__attribute__((noinline)) static void critical(void) {
    FORESEE_LOCAL(critical, 1);
    int seen = x;
    if (!must_leave) x = seen + 1;
    FORESEE_LOCAL(critical, 0);
}
__attribute__((noinline)) static void deeper(void) {
    volatile char frame[4096];
    frame[0] = 1;
    critical();
    frame[1] = 2;
}
static void *is_inside(void *u) {
    FORESEE_LOCAL(critical, 1);
    x = 5;
    return u;
}
static void *jumps(void *u) {
    pass(1);
    if (setjmp(back) == 0) critical();
    FORESEE_LOCAL(critical, 0);
    deeper();
    return u;
}

// More threads than can be monitored.
static void *nothing(void *u) { return u; }
static void crowd(void) {
    for (int i = 0; i < 4200; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
    }
    both(is_inside, is_inside);
}

int main(int words, char **word) {
    object = words > 1 ? word[1] : "";
    if (!strcmp(object, "try")) both(holds, tries);
    else if (!strcmp(object, "before")) both(writes_late, reads_before);
    else if (!strcmp(object, "missed")) both(writes_late, reads_after);
    else if (!strcmp(object, "signals")) signals();
    else if (!strcmp(object, "recovers")) recovers();
    else if (!strcmp(object, "crowd")) crowd();
    else if (!strcmp(object, "deeper")) {
        FORESEE_ON_VIOLATION("leave", leave, 0);
        both(is_inside, jumps);
        printf("called %d times, x is %d\n", calls, x);
    } else detached();
    return 0;
}
