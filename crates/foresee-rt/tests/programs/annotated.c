// A mutex and a hand-over of the program's own, known by annotations only.
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stddef.h>
void __tsan_mutex_create(void *, unsigned), __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned), __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long);
void AnnotateRWLockReleased(const char *, int, const volatile void *, long);
void AnnotateIgnoreWritesBegin(const char *, int), AnnotateIgnoreWritesEnd(const char *, int);
void AnnotateThreadName(const char *, int, const char *);
// Its own definition wins.
void AnnotateBenignRaceSized(const char *f, int l, const volatile void *m, size_t s, const char *d) {
    (void)f, (void)l, (void)m, (void)s, (void)d;
}
enum { try_lock = 1 << 4, failed = 1 << 5, recursive_lock = 1 << 6, recursive_unlock = 1 << 7 };

static atomic_int word, turn, spin;
static int depth, total, handed, guarded, statistics;
static _Thread_local int mine;

static void lock(void) {
    if (mine++) { __tsan_mutex_pre_lock(&word, 0); __tsan_mutex_post_lock(&word, 0, 1); return; }
    __tsan_mutex_pre_lock(&word, 0);
    while (atomic_exchange_explicit(&word, 1, memory_order_relaxed)) sched_yield();
    __tsan_mutex_post_lock(&word, 0, 1);
}
static void unlock(void) {
    __tsan_mutex_pre_unlock(&word, 0);
    if (--mine == 0) atomic_store_explicit(&word, 0, memory_order_relaxed);
    __tsan_mutex_post_unlock(&word, 0);
}
// Gives the lock up at all levels, and takes it again.
static void pass(void) {
    int levels = mine, told = __tsan_mutex_pre_unlock(&word, recursive_unlock);
    mine = 0;
    atomic_store_explicit(&word, 0, memory_order_relaxed);
    __tsan_mutex_post_unlock(&word, recursive_unlock);
    sched_yield();
    __tsan_mutex_pre_lock(&word, recursive_lock);
    while (atomic_exchange_explicit(&word, 1, memory_order_relaxed)) sched_yield();
    __tsan_mutex_post_lock(&word, recursive_lock, told);
    mine = levels;
    if (told != levels) depth = -1;
}
static void *work(void *unused) {
    AnnotateThreadName(__FILE__, __LINE__, "worker");
    for (int i = 0; i < 20; i++) {
        lock();
        lock();
        total++;
        pass();
        total++;
        unlock();
        unlock();
        __tsan_mutex_pre_lock(&word, try_lock);
        int got = !atomic_exchange_explicit(&word, 1, memory_order_relaxed);
        __tsan_mutex_post_lock(&word, try_lock | (got ? 0 : failed), 1);
        if (got) { mine = 1; total += 2; unlock(); } else { lock(); total += 2; unlock(); }
        while (atomic_exchange_explicit(&spin, 1, memory_order_relaxed)) sched_yield();
        AnnotateRWLockAcquired(__FILE__, __LINE__, &spin, 1);
        guarded++;
        AnnotateRWLockReleased(__FILE__, __LINE__, &spin, 1);
        atomic_store_explicit(&spin, 0, memory_order_relaxed);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        statistics++;
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    }
    return unused;
}
static void *hands_over(void *unused) {
    handed = 7;
    AnnotateHappensBefore(__FILE__, __LINE__, &turn);
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    return unused;
}
int main(void) {
    AnnotateBenignRaceSized("", 0, &statistics, sizeof statistics, "");
    __tsan_mutex_create(&word, 0);
    pthread_t a, b, c;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_create(&c, 0, hands_over, 0);
    while (!atomic_load_explicit(&turn, memory_order_relaxed)) sched_yield();
    AnnotateHappensAfter(__FILE__, __LINE__, &turn);
    int ok = handed == 7;
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    __tsan_mutex_destroy(&word, 0);
    return !(ok && total == 160 && depth == 0 && guarded == 40);
}
