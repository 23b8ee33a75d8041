// A thread asks to ignore what it does; handlers that interrupt it have not asked for that, and publish data by an atomic.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);
void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);
enum { TIMES = 50 };
static int data[TIMES];
static atomic_int ready[TIMES], begun, done, times;
static void handle(int signal) {
    (void)signal;
    int at = atomic_load(&times);
    data[at] = at;
    atomic_store(&ready[at], 1);
}
static void *work(void *unused) {
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    static int own;
    atomic_store_explicit(&begun, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&done, memory_order_relaxed)) { own++; usleep(10); }
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    return unused;
}
int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handle);
    pthread_create(&thread, 0, work, 0);
    while (!atomic_load(&begun)) usleep(100);
    for (int i = 0; i < TIMES; i++) {
        atomic_store(&times, i);
        pthread_kill(thread, SIGUSR1);
        while (!atomic_load(&ready[i])) usleep(100);
        if (data[i] != i) return 1;
    }
    atomic_store(&done, 1);
    pthread_join(thread, 0);
    return 0;
}
