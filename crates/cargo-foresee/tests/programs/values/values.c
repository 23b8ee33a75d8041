// What reads see, and who wrote it. The first argument says which: in those that begin with `unseen_`, some code that is not recorded
// writes what is read where `// seen` stands. In the others, all writes are recorded.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void outside_add(int *);

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int shared, initialised = 3;
static double wide;
static volatile int sink;

static void add_by_assembly(int *at) { __asm__ volatile("addl $1, %0" : "+m"(*at)); }

__attribute__((noinline)) static int get(const int *at) {
    pthread_mutex_lock(&guard);
    int found = *at; // seen
    pthread_mutex_unlock(&guard);
    return found;
}

__attribute__((noinline)) static void put(int *at, int value) {
    pthread_mutex_lock(&guard);
    *at = value;
    pthread_mutex_unlock(&guard);
}

static void locked(void (*change)(int *), int *at) {
    pthread_mutex_lock(&guard);
    change(at);
    pthread_mutex_unlock(&guard);
}

static void *adds_outside(void *at) { locked(outside_add, at); return 0; }
static void *adds_by_assembly(void *at) { locked(add_by_assembly, at); return 0; }
static void *puts_often(void *at) {
    for (int i = 1; i < 500; i++) put(at, i);
    return 0;
}
static void *races(void *at) {
    for (int i = 0; i < 2000; i++) {
        *(volatile int *)at += 1;
        if (i % 64 == 0) put(&shared, i);
    }
    return 0;
}

static void in_two_threads(void *(*one)(void *), void *at, int reads) {
    pthread_t other;
    sink = get(at);
    pthread_create(&other, 0, one, at);
    for (int i = 0; i < reads; i++) sink = get(at);
    pthread_join(other, 0);
    sink = get(at);
}

static volatile int in_handler;
static void handler(int signal) { sink = in_handler; }

int main(int count, char **words) {
    const char *which = count > 1 ? words[1] : "";
    int *heap = calloc(1024, sizeof *heap);
    if (!strcmp(which, "unseen_outside")) in_two_threads(adds_outside, &shared, 0);
    if (!strcmp(which, "unseen_assembly")) in_two_threads(adds_by_assembly, &shared, 0);
    if (!strcmp(which, "unseen_heap")) in_two_threads(adds_outside, heap + 7, 0);
    if (!strcmp(which, "unseen_at_first")) {
        outside_add(&initialised);
        sink = get(&initialised);
    }
    if (!strcmp(which, "locked")) in_two_threads(puts_often, &shared, 500);
    if (!strcmp(which, "racy")) {
        pthread_t others[2];
        for (int i = 0; i < 2; i++) pthread_create(others + i, 0, races, heap);
        for (int i = 0; i < 500; i++) sink = *(volatile int *)heap;
        for (int i = 0; i < 2; i++) pthread_join(others[i], 0);
        // All reads before may have raced, and then say nothing; these two do not.
        for (int i = 0; i < 2; i++) sink = get(heap);
    }
    if (!strcmp(which, "renewed")) {
        for (int i = 0; i < 100; i++) {
            int *block = malloc(64 + i);
            memset(block, i, 64);
            sink = get(block + 3) + get(block + 3);
            block = realloc(block, 4000 + i);
            memcpy(block, heap, 64);
            sink = get(block + 3) + get(block + 3);
            free(block);
        }
        char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 1; i < 9; i++) {
            page[4096] = i;
            sink = page[4096];
            madvise(page + 4096, 4096, MADV_DONTNEED);
            sink = page[4096];
        }
        munmap(page, 8192);
    }
    if (!strcmp(which, "sizes")) {
        for (int i = 0; i < 100; i++) {
            ((char *)heap)[i % 8] = i;
            sink = *(volatile long *)heap != 0;
            sink = *(volatile short *)((char *)heap + 2);
            sink = *(volatile int *)heap;
            wide += 1;
            sink = *(volatile double *)&wide > 2;
        }
    }
    if (!strcmp(which, "library")) {
        for (int i = 0; i < 50; i++) {
            snprintf((char *)heap, 100, "%d", i);
            sink = ((volatile char *)heap)[0];
            sink = ((volatile char *)heap)[0];
            errno = 0;
            fopen("/nowhere", "r");
            sink = errno;
        }
    }
    if (!strcmp(which, "handler")) {
        signal(SIGUSR1, handler);
        for (int i = 0; i < 2000; i++) {
            in_handler = i;
            raise(SIGUSR1);
            sink = in_handler;
            sink = in_handler;
        }
    }
    free(heap);
}
