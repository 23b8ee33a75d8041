// While `gate` is closed, the data belongs to the worker, who looks at the gate under a mutex. The main thread opens it under the
// mutex, once, and has the data for itself from then on. Correct only because an attempt on a closed gate fails.

#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <string>
#include <threads.h>
#include <unistd.h>

static int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static timespec soon() {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return until;
}

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11;
static sem_t semaphore;
static std::timed_mutex timed;
static std::shared_mutex readers;

/// A gate: how it is closed and opened; whether taking it fails; and how it is left again by who has got it.
#define GATE(Name, close_it, open_it, take_it, leave_it)                                                                   \
    struct Name {                                                                                                          \
        static void close() { close_it; }                                                                                  \
        static void open() { open_it; }                                                                                    \
        static bool is_closed() {                                                                                          \
            timespec until = soon();                                                                                       \
            (void)until;                                                                                                   \
            if (take_it)                                                                                                   \
                return true;                                                                                               \
            leave_it;                                                                                                      \
            return false;                                                                                                  \
        }                                                                                                                  \
    };

GATE(Mutex, pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain), pthread_mutex_trylock(&plain), pthread_mutex_unlock(&plain))
GATE(Timed, pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain), pthread_mutex_timedlock(&plain, &until),
     pthread_mutex_unlock(&plain))
GATE(Reader, pthread_rwlock_wrlock(&shared), pthread_rwlock_unlock(&shared), pthread_rwlock_tryrdlock(&shared),
     pthread_rwlock_unlock(&shared))
GATE(Writer, pthread_rwlock_rdlock(&shared), pthread_rwlock_unlock(&shared), pthread_rwlock_trywrlock(&shared),
     pthread_rwlock_unlock(&shared))
GATE(Spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin), pthread_spin_trylock(&spin), pthread_spin_unlock(&spin))
GATE(C11, mtx_lock(&c11), mtx_unlock(&c11), mtx_trylock(&c11), mtx_unlock(&c11))
GATE(Stream, flockfile(stdout), funlockfile(stdout), ftrylockfile(stdout), funlockfile(stdout))
GATE(Semaphore, , sem_post(&semaphore), sem_trywait(&semaphore), sem_post(&semaphore))
GATE(TimedSemaphore, , sem_post(&semaphore), sem_timedwait(&semaphore, &until), sem_post(&semaphore))
GATE(TimedMutex, timed.lock(), timed.unlock(), !timed.try_lock_for(std::chrono::milliseconds(1)), timed.unlock())
GATE(SharedMutex, readers.lock(), readers.unlock(), !readers.try_lock_shared(), readers.unlock_shared())

static bool is_broken;

template <class Gate> static void *work(void *) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        // The broken one does not ask first.
        if (is_broken)
            data++;
        if (Gate::is_closed() && !is_broken)
            data++;
        pthread_mutex_unlock(&mutex);
    }
    return nullptr;
}

template <class Gate> static int run() {
    Gate::close();
    pthread_t worker;
    pthread_create(&worker, nullptr, work<Gate>, nullptr);
    usleep(20000);
    pthread_mutex_lock(&mutex);
    Gate::open();
    pthread_mutex_unlock(&mutex);
    data++;
    return pthread_join(worker, nullptr);
}

int main(int, char **words) {
    pthread_spin_init(&spin, 0);
    mtx_init(&c11, mtx_plain);
    sem_init(&semaphore, 0, 0);
    is_broken = words[2] != nullptr;
    std::string name = words[1];
    if (name == "mutex") return run<Mutex>();
    if (name == "timed") return run<Timed>();
    if (name == "reader") return run<Reader>();
    if (name == "writer") return run<Writer>();
    if (name == "spin") return run<Spin>();
    if (name == "c11") return run<C11>();
    if (name == "stream") return run<Stream>();
    if (name == "semaphore") return run<Semaphore>();
    if (name == "timed_semaphore") return run<TimedSemaphore>();
    if (name == "timed_mutex") return run<TimedMutex>();
    if (name == "shared_mutex") return run<SharedMutex>();
    return 1;
}
