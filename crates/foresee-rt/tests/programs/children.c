// Threads hand over by way of other processes: through pipes, by the end of a child, by a lock that processes share.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int data, there[2], back[2];
static pid_t child;
static struct shared { pthread_mutex_t guard; int go, done; } *shared;

static void check(int good) {
    if (!good) abort();
}

static void write_byte(void) { check(write(there[1], "x", 1) == 1); }
static void read_byte(void) {
    char byte;
    check(read(back[0], &byte, 1) == 1);
}
static void ends_child(void) { check(kill(child, SIGKILL) == 0); }
static void waits_for_child(void) {
    int status;
    check(waitpid(child, &status, 0) == child);
}
static int get(int *flag) {
    pthread_mutex_lock(&shared->guard);
    int value = *flag;
    pthread_mutex_unlock(&shared->guard);
    return value;
}
static void set(int *flag) {
    pthread_mutex_lock(&shared->guard);
    *flag = 1;
    pthread_mutex_unlock(&shared->guard);
}
static void sets_flag(void) { set(&shared->go); }
static void waits_for_flag(void) { while (!get(&shared->done)) usleep(100); }

static void (*give)(void);
static void *giver(void *unused) {
    data = 7;
    give();
    return unused;
}
static void hand_over(void (*giving)(void), void (*getting)(void)) {
    pthread_t thread;
    data = 0;
    give = giving;
    pthread_create(&thread, 0, giver, 0);
    getting();
    check(data == 7);
    data = 1;
    pthread_join(thread, 0);
}

int main(void) {
    check(pipe(there) == 0 && pipe(back) == 0);
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->guard, &attributes);
    child = fork();
    if (child == 0) {
        char byte;
        check(read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1);
        while (!get(&shared->go)) usleep(100);
        set(&shared->done);
        for (;;) pause();
    }
    hand_over(write_byte, read_byte);
    hand_over(sets_flag, waits_for_flag);
    hand_over(ends_child, waits_for_child);
    return 0;
}
