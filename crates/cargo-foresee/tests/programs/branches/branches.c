// Each case: one thread writes to a variable and then sets a flag under a lock; later another reads the flag and writes to the variable.
// Where nothing depends on the flag (`free_…`) both could have happened at once; where something does (`bound_…`), nobody knows.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

#define CASE(name, body)                      \
    int name;                                 \
    static volatile int name##_flag;          \
    static void *name##_first(void *unused) { \
        name = 1;                             \
        pthread_mutex_lock(&lock);            \
        name##_flag = 1;                      \
        pthread_mutex_unlock(&lock);          \
        return unused;                        \
    }                                         \
    static void *name##_last(void *result) {  \
        usleep(300000);                       \
        pthread_mutex_lock(&lock);            \
        int it = name##_flag;                 \
        pthread_mutex_unlock(&lock);          \
        body;                                 \
        (void)it;                             \
        return result;                        \
    }

void in_library(int it, int *place);
static void nothing(void) {}
static int elsewhere, sink;

CASE(free_plain, free_plain = 2)
CASE(free_value, sink = it; free_value = 2)
CASE(free_lock, pthread_mutex_lock(&other); free_lock = 2; pthread_mutex_unlock(&other))

CASE(bound_test, if (it) bound_test = 2)
CASE(bound_and, it && (bound_and = 2))
CASE(bound_loop, for (int i = 0; i < it; i++) bound_loop = 2)
CASE(bound_choice, *(it ? &bound_choice : &elsewhere) = 2)
CASE(bound_offset, (&bound_offset)[it - 1] = 2)
CASE(bound_library, in_library(it, &bound_library))
CASE(bound_result, result = (void *)(long)it)

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
CASE(bound_lock, pthread_mutex_lock(&locks[it]); bound_lock = 2; pthread_mutex_unlock(&locks[it]))

int bound_pointer;
static int *const places[] = {&elsewhere, &bound_pointer};
static int *volatile place;
static void *bound_pointer_first(void *unused) {
    bound_pointer = 1;
    pthread_mutex_lock(&lock);
    place = places[1];
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *bound_pointer_last(void *unused) {
    usleep(300000);
    pthread_mutex_lock(&lock);
    int *to = place;
    pthread_mutex_unlock(&lock);
    *to = 2;
    return unused;
}

extern int bound_call;
static void call(void) { bound_call = 2; }
static void (*const calls[])(void) = {nothing, call};
CASE(bound_call, calls[it]())

CASE(bound_switch, switch (it) {
    case 0: elsewhere = 1; break;
    case 1: bound_switch = 2; break;
    case 2: elsewhere = 2; break;
    case 3: elsewhere = 3; break;
    default: elsewhere = 4; })

int free_atomic, bound_spin;
static atomic_int free_atomic_flag, bound_spin_flag;
static void *free_atomic_first(void *unused) {
    free_atomic = 1;
    atomic_store(&free_atomic_flag, 1);
    return unused;
}
static void *free_atomic_last(void *unused) {
    usleep(300000);
    (void)atomic_load(&free_atomic_flag);
    free_atomic = 2;
    return unused;
}
static void *bound_spin_first(void *unused) {
    bound_spin = 1;
    atomic_store(&bound_spin_flag, 1);
    return unused;
}
static void *bound_spin_last(void *unused) {
    while (atomic_load(&bound_spin_flag) == 0) usleep(1000);
    bound_spin = 2;
    return unused;
}

#define BOTH(name) {name##_first, name##_last}
static void *(*const cases[][2])(void *) = {
    BOTH(bound_result), BOTH(free_plain),   BOTH(free_value),    BOTH(free_lock),  BOTH(free_atomic),  BOTH(bound_test),
    BOTH(bound_and),    BOTH(bound_loop),   BOTH(bound_choice),  BOTH(bound_lock), BOTH(bound_offset), BOTH(bound_library),
    BOTH(bound_switch), BOTH(bound_call),   BOTH(bound_pointer), BOTH(bound_spin),
};
enum { CASES = sizeof cases / sizeof cases[0] };

int main(void) {
    pthread_t threads[CASES][2];
    for (int i = 0; i < CASES; i++)
        for (int j = 0; j < 2; j++) pthread_create(&threads[i][j], 0, cases[i][j], 0);
    void *result = 0;
    pthread_join(threads[0][1], &result);
    if (result) bound_result = 2;
    for (int i = 0; i < CASES; i++) {
        pthread_join(threads[i][0], 0);
        if (i > 0) pthread_join(threads[i][1], 0);
    }
    printf("%d\n", bound_spin);
    return 0;
}
