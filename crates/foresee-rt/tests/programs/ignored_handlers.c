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
static atomic_int ready[TIMES], done, times;
static int begun[2];
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
    // Not by an atomic: a value that nobody was seen to write.
    if (write(begun[1], "", 1) != 1) return 0;
    while (!atomic_load_explicit(&done, memory_order_relaxed)) { own++; usleep(10); }
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    return unused;
}
int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handle);
    char byte;
    if (pipe(begun) != 0) return 2;
    pthread_create(&thread, 0, work, 0);
    if (read(begun[0], &byte, 1) != 1) return 3;
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
