// Copies the process behind the C library's back, while another thread records; the copies write a lot.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int own;
static atomic_int counter, done;
static char stack[1 << 16];
static int copy(void *unused) {
    (void)unused;
    for (int i = 0; i < 5000; i++) {
        own = i;
        atomic_fetch_add(&counter, 1);
    }
    _exit(own == 4999 ? 0 : 1);
}
static void *count(void *unused) {
    while (!atomic_load(&done)) {
        atomic_fetch_add(&counter, 1);
        usleep(10);
    }
    return unused;
}
static int ended(int child) {
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    for (int i = 0; i < 10; i++) {
        own = i;
        if (!ended(clone(copy, stack + sizeof stack, SIGCHLD, 0))) return 1;
        int child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) copy(0);
        if (!ended(child)) return 2;
    }
    atomic_store(&done, 1);
    pthread_join(thread, 0);
    return 0;
}
