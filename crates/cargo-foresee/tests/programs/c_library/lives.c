// The life of what threads synchronise by: who uses it when it begins, and when it ends.
#include "programs.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>

#define THREADS 3
#define ROUNDS 20

// An object with a mutex, which the last of its owners destroys.

struct Counted {
    pthread_mutex_t mutex;
    int owners, sum;
};

static void *drop(void *with) {
    struct Counted *counted = with;
    pthread_mutex_lock(&counted->mutex);
    counted->sum++;
    int left = --counted->owners;
    pthread_mutex_unlock(&counted->mutex);
    if (left == 0) {
        CHECK(pthread_mutex_destroy(&counted->mutex) == 0);
        free(counted);
    }
    return 0;
}

static void counted(void) {
    for (int round = 0; round < ROUNDS; round++) {
        struct Counted *counted = malloc(sizeof *counted);
        pthread_mutex_init(&counted->mutex, 0);
        counted->owners = THREADS;
        counted->sum = 0;
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) threads[i] = start(drop, counted);
        for (int i = 0; i < THREADS; i++) finish(threads[i]);
    }
}

// The same with a count outside of the lock.

static atomic_int owners;

static void *drop_by_atomic(void *with) {
    struct Counted *counted = with;
    pthread_mutex_lock(&counted->mutex);
    counted->sum++;
    pthread_mutex_unlock(&counted->mutex);
    if (atomic_fetch_sub_explicit(&owners, 1, memory_order_acq_rel) == 1) {
        CHECK(counted->sum == THREADS);
        CHECK(pthread_mutex_destroy(&counted->mutex) == 0);
        free(counted);
    }
    return 0;
}

static void counted_by_atomic(void) {
    for (int round = 0; round < ROUNDS; round++) {
        struct Counted *counted = calloc(1, sizeof *counted);
        pthread_mutex_init(&counted->mutex, 0);
        owners = THREADS;
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) threads[i] = start(drop_by_atomic, counted);
        for (int i = 0; i < THREADS; i++) finish(threads[i]);
    }
}

// All kinds of them, on the stack, again and again: used by others, who are joined.

struct All {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    mtx_t c11_mutex;
    cnd_t c11_condition;
    int sum;
};

static void begin(struct All *all) {
    CHECK(pthread_mutex_init(&all->mutex, 0) == 0 && pthread_rwlock_init(&all->rwlock, 0) == 0);
    CHECK(pthread_spin_init(&all->spin, 0) == 0 && pthread_cond_init(&all->condition, 0) == 0);
    CHECK(pthread_barrier_init(&all->barrier, 0, 2) == 0 && sem_init(&all->semaphore, 0, 0) == 0);
    CHECK(mtx_init(&all->c11_mutex, mtx_plain) == thrd_success && cnd_init(&all->c11_condition) == thrd_success);
}

static void end(struct All *all) {
    CHECK(pthread_mutex_destroy(&all->mutex) == 0 && pthread_rwlock_destroy(&all->rwlock) == 0);
    CHECK(pthread_spin_destroy(&all->spin) == 0 && pthread_cond_destroy(&all->condition) == 0);
    CHECK(pthread_barrier_destroy(&all->barrier) == 0 && sem_destroy(&all->semaphore) == 0);
    mtx_destroy(&all->c11_mutex);
    cnd_destroy(&all->c11_condition);
}

static void *use(void *with) {
    struct All *all = with;
    struct timespec past = {0, 0};
    pthread_mutex_lock(&all->mutex);
    all->sum++;
    // It may be woken by another thread just then.
    pthread_cond_timedwait(&all->condition, &all->mutex, &past);
    pthread_cond_broadcast(&all->condition);
    pthread_mutex_unlock(&all->mutex);
    if (pthread_mutex_trylock(&all->mutex) == 0) pthread_mutex_unlock(&all->mutex);
    if (pthread_mutex_timedlock(&all->mutex, &past) == 0) pthread_mutex_unlock(&all->mutex);
    pthread_rwlock_rdlock(&all->rwlock);
    pthread_rwlock_unlock(&all->rwlock);
    pthread_rwlock_wrlock(&all->rwlock);
    pthread_rwlock_unlock(&all->rwlock);
    pthread_spin_lock(&all->spin);
    pthread_spin_unlock(&all->spin);
    mtx_lock(&all->c11_mutex);
    cnd_signal(&all->c11_condition);
    mtx_unlock(&all->c11_mutex);
    pthread_barrier_wait(&all->barrier);
    sem_post(&all->semaphore);
    return 0;
}

static void joined(void) {
    for (int round = 0; round < ROUNDS; round++) {
        struct All all = {.sum = 0};
        begin(&all);
        pthread_t one = start(use, &all), other = start(use, &all);
        finish(one);
        finish(other);
        CHECK(all.sum == 2);
        end(&all);
    }
}

// A barrier may be destroyed as soon as it has let one go.

static pthread_barrier_t barrier;

static void *reach(void *unused) {
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) CHECK(pthread_barrier_destroy(&barrier) == 0);
    return unused;
}

static void barrier_of_last(void) {
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pthread_barrier_init(&barrier, 0, 2) == 0);
        pthread_t other = start(reach, 0);
        reach(0);
        finish(other);
    }
}

// A semaphore may be destroyed by whoever was let go, and so may its memory: it is on a stack.

static void *post(void *semaphore) {
    data++;
    sem_post(semaphore);
    return 0;
}

static void semaphore_of_waiter(void) {
    for (int round = 0; round < ROUNDS; round++) {
        sem_t semaphore;
        CHECK(sem_init(&semaphore, 0, 0) == 0);
        pthread_t other = start(post, &semaphore);
        CHECK(sem_wait(&semaphore) == 0 && data == round + 1);
        CHECK(sem_destroy(&semaphore) == 0);
        finish(other);
    }
}

// A condition variable may be destroyed when nobody waits for it any more, although some have not returned.

struct Gate {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int waiting, is_open;
};

static void *pass(void *with) {
    struct Gate *gate = with;
    pthread_mutex_lock(&gate->mutex);
    gate->waiting++;
    pthread_cond_broadcast(&gate->condition);
    while (!gate->is_open) pthread_cond_wait(&gate->condition, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return 0;
}

static void condition_of_broadcaster(void) {
    for (int round = 0; round < ROUNDS; round++) {
        struct Gate gate = {.waiting = 0};
        pthread_mutex_init(&gate.mutex, 0);
        pthread_cond_init(&gate.condition, 0);
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) threads[i] = start(pass, &gate);
        pthread_mutex_lock(&gate.mutex);
        while (gate.waiting < THREADS) pthread_cond_wait(&gate.condition, &gate.mutex);
        gate.is_open = 1;
        pthread_cond_broadcast(&gate.condition);
        if (round % 2) pthread_mutex_unlock(&gate.mutex);
        CHECK(pthread_cond_destroy(&gate.condition) == 0);
        if (round % 2 == 0) pthread_mutex_unlock(&gate.mutex);
        for (int i = 0; i < THREADS; i++) finish(threads[i]);
        CHECK(pthread_mutex_destroy(&gate.mutex) == 0);
    }
}

// Statics that are initialised once, by whoever comes first, and destroyed as the program ends.

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lazy;

static void begin_lazy(void) { pthread_mutex_init(&lazy, 0); }

static void *use_lazy(void *unused) {
    pthread_once(&once, begin_lazy);
    pthread_mutex_lock(&lazy);
    data++;
    pthread_mutex_unlock(&lazy);
    return unused;
}

static int ends_lazy;
__attribute__((destructor)) static void end_lazy(void) {
    if (ends_lazy) CHECK(pthread_mutex_destroy(&lazy) == 0);
}

static void statics(void) {
    ends_lazy = 1;
    pthread_t one = start(use_lazy, 0), other = start(use_lazy, 0);
    finish(one);
    finish(other);
}

// Blocks that go from thread to thread by way of the allocator.

static void *allocate(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        struct Counted *own = malloc(sizeof *own);
        pthread_mutex_init(&own->mutex, 0);
        pthread_mutex_lock(&own->mutex);
        own->sum = round;
        pthread_mutex_unlock(&own->mutex);
        pthread_mutex_destroy(&own->mutex);
        free(own);
    }
    return unused;
}

static void reused(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(allocate, 0);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
}

// Blocks that are handed over as they are, by a release and an acquire; and memory of the kernel, which is as it is for whoever comes first.

static _Atomic(int *) block;

static void *fill(void *is_ordered) {
    int *given = 0;
    while (!given) {
        usleep(MOMENT);
        given = is_ordered ? atomic_load(&block) : atomic_load_explicit(&block, memory_order_relaxed);
    }
    given[0] = 1;
    given[5] = 2;
    return 0;
}

static int *from_heap(void) { return malloc(100); }

static int *from_kernel(void) {
    return mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void give(int *(*from)(void), int is_ordered) {
    atomic_store(&block, 0);
    pthread_t other = start(fill, is_ordered ? &block : 0);
    int *given = from();
    is_ordered ? atomic_store(&block, given) : atomic_store_explicit(&block, given, memory_order_relaxed);
    finish(other);
    CHECK(given[0] == 1 && given[5] == 2);
}

static void given(void) {
    give(from_heap, 1);
    give(from_kernel, 1);
    give(from_kernel, 0);
}

// The program ends while a thread goes on.

static pthread_mutex_t busy_mutex;

static void *be_busy(void *unused) {
    for (;;) {
        pthread_mutex_lock(&busy_mutex);
        printf(".");
        pthread_mutex_unlock(&busy_mutex);
        usleep(MOMENT);
    }
    return unused;
}

static void detached(void) {
    pthread_mutex_init(&busy_mutex, 0);
    pthread_detach(start(be_busy, 0));
    usleep(WHILE_OTHERS_RUN);
}

// A child has objects of its own: it destroys what the parent goes on to use.

static void forked(void) {
    pthread_t other = start(use_lazy, 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_t copy;
        pthread_mutex_init(&copy, 0);
        pthread_mutex_destroy(&copy);
        _exit(0);
    }
    finish(other);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(pthread_mutex_destroy(&lazy) == 0);
}

// What is wrong. One thread comes after the other, but nothing orders them: a relaxed atomic tells that the first is done.

static atomic_int is_done;

static void done(void) { atomic_store_explicit(&is_done, 1, memory_order_relaxed); }

static void wait_until_done(void) {
    while (!atomic_load_explicit(&is_done, memory_order_relaxed)) usleep(MOMENT);
}

static void *use_first(void *with) {
    use(with);
    done();
    return 0;
}

static void wrong_end(void (*end_one)(struct All *all)) {
    struct All *all = calloc(1, sizeof *all);
    begin(all);
    pthread_barrier_destroy(&all->barrier);
    pthread_barrier_init(&all->barrier, 0, 1);
    pthread_t other = start(use_first, all);
    wait_until_done();
    end_one(all);
    finish(other);
}

#define WRONG_END(name, how)                                              \
    static void end_##name(struct All *all) { how; }                      \
    static void wrong_##name(void) { wrong_end(end_##name); }

WRONG_END(mutex, pthread_mutex_destroy(&all->mutex))
WRONG_END(rwlock, pthread_rwlock_destroy(&all->rwlock))
WRONG_END(spin, pthread_spin_destroy(&all->spin))
WRONG_END(condition, pthread_cond_destroy(&all->condition))
WRONG_END(barrier, pthread_barrier_destroy(&all->barrier))
WRONG_END(semaphore, sem_destroy(&all->semaphore))
WRONG_END(c11_mutex, mtx_destroy(&all->c11_mutex))
WRONG_END(c11_condition, cnd_destroy(&all->c11_condition))
WRONG_END(again, pthread_mutex_init(&all->mutex, 0))
WRONG_END(free, free(all))

static void wrong_allocation(void) { give(from_heap, 0); }

static pthread_mutex_t late;

static void *begin_late(void *unused) {
    pthread_mutex_init(&late, 0);
    pthread_mutex_lock(&late);
    data++;
    pthread_mutex_unlock(&late);
    done();
    return unused;
}

static void wrong_begin(void) {
    pthread_t other = start(begin_late, 0);
    wait_until_done();
    pthread_mutex_lock(&late);
    data++;
    pthread_mutex_unlock(&late);
    finish(other);
}

// Two things that are done once, side by side: they order nothing for each other.

static pthread_once_t onces[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};

static void nothing(void) {}

static void *do_first(void *unused) {
    data = 1;
    pthread_once(&onces[0], nothing);
    done();
    return unused;
}

static void wrong_once(void) {
    pthread_t other = start(do_first, 0);
    wait_until_done();
    pthread_once(&onces[1], nothing);
    data = 2;
    finish(other);
}

int main(int count, char **words) {
    static const struct Program programs[] = {
        {"counted", counted},
        {"counted_by_atomic", counted_by_atomic},
        {"joined", joined},
        {"barrier_of_last", barrier_of_last},
        {"semaphore_of_waiter", semaphore_of_waiter},
        {"condition_of_broadcaster", condition_of_broadcaster},
        {"statics", statics},
        {"reused", reused},
        {"given", given},
        {"detached", detached},
        {"forked", forked},
        {"wrong_mutex", wrong_mutex},
        {"wrong_rwlock", wrong_rwlock},
        {"wrong_spin", wrong_spin},
        {"wrong_condition", wrong_condition},
        {"wrong_barrier", wrong_barrier},
        {"wrong_semaphore", wrong_semaphore},
        {"wrong_c11_mutex", wrong_c11_mutex},
        {"wrong_c11_condition", wrong_c11_condition},
        {"wrong_again", wrong_again},
        {"wrong_free", wrong_free},
        {"wrong_allocation", wrong_allocation},
        {"wrong_begin", wrong_begin},
        {"wrong_once", wrong_once},
        {0, 0},
    };
    return run(count, words, programs);
}
