// Counts to 1,000 under a lock, and then ends in the way that the argument says.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int counter;
static void count(int times) {
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&guard);
        counter++;
        pthread_mutex_unlock(&guard);
    }
}
static void say(const char *what) {
    if (write(1, what, strlen(what)) < 0) _exit(99);
}
static int deep(volatile char *above, int n) {
    volatile char here[1000];
    here[0] = *above;
    return n + deep(here, n + 1) + here[0];
}
static void *ends(void *how) {
    count(1000);
    if (!strcmp(how, "thread-aborts")) abort();
    if (!strcmp(how, "thread-exits")) exit(5);
    if (!strcmp(how, "thread-exits-at-once")) _exit(6);
    char zero = 0;
    if (!strcmp(how, "thread-overflows")) deep(&zero, 0);
    return 0;
}
static void *forever(void *unused) {
    count(1000);
    pthread_barrier_wait(&both);
    for (;;) count(1);
    return unused;
}
static void last(void) {
    count(10);
    say("last\n");
}
static jmp_buf back;
static void jump(int n) { if (n) jump(n - 1); else longjmp(back, 7); }
static void handle(int signal) {
    count(1);
    if (signal == SIGUSR2) raise(SIGUSR1);
}
static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}
int main(int words, char **word) {
    const char *how = words > 1 ? word[1] : "";
    pthread_t thread;
    char zero = 0;
    if (!strncmp(how, "thread-", 7)) {
        pthread_create(&thread, 0, ends, (void *)how);
        pthread_join(thread, 0);
        return 1;
    }
    count(1000);
    say("counted\n");
    if (!strcmp(how, "returns")) return 3;
    if (!strcmp(how, "aborts")) abort();
    if (!strcmp(how, "overflows")) deep(&zero, 0);
    if (!strcmp(how, "is-killed")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "crashes")) *(volatile int *)(long)zero = 1;
    if (!strcmp(how, "exits-at-once")) _exit(4);
    if (!strcmp(how, "exits-with-handlers")) { atexit(last); exit(8); }
    if (!strcmp(how, "leaves-main")) { pthread_create(&thread, 0, ends, "returns"); pthread_exit(0); }
    if (!strcmp(how, "exits-while-threads-run")) {
        pthread_barrier_init(&both, 0, 2);
        pthread_create(&thread, 0, forever, 0);
        pthread_barrier_wait(&both);
        return 9;
    }
    if (!strcmp(how, "jumps")) { int value = setjmp(back); if (value == 0) jump(50); count(10); return value; }
    if (!strcmp(how, "handles-signals")) {
        signal(SIGUSR1, handle);
        signal(SIGUSR2, handle);
        for (int i = 0; i < 100; i++) raise(SIGUSR2);
        return counter == 1200 ? 11 : 12;
    }
    if (!strcmp(how, "forks")) {
        pid_t child = fork();
        if (child == 0) { count(500); say("child\n"); return 13; }
        return wait_for(child) + 1;
    }
    if (!strcmp(how, "vforks")) {
        pid_t child = vfork();
        if (child == 0) { execl("/bin/sh", "sh", "-c", "echo started; exit 15", (char *)0); _exit(1); }
        pid_t other = vfork();
        if (other == 0) _exit(2);
        return wait_for(child) + wait_for(other);
    }
    return 98;
}
