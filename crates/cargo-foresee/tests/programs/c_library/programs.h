// What the programs have in common: each hands `data` over from one thread to another, or fails to.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what) ((what) ? (void)0 : (dprintf(2, "wrong: %s\n", #what), abort()))
#define MOMENT 2000
#define WHILE_OTHERS_RUN (20 * MOMENT)

int data, seen;

static pthread_t start(void *(*routine)(void *), void *with) {
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, routine, with) == 0);
    return thread;
}

static void finish(pthread_t thread) { CHECK(pthread_join(thread, 0) == 0); }

struct Program {
    const char *name;
    void (*run)(void);
};

// Runs the program that the command line names.
static int run(int count, char **words, const struct Program *programs) {
    for (; count == 2 && programs->name; programs++) {
        if (strcmp(words[1], programs->name) == 0) {
            programs->run();
            return 0;
        }
    }
    return 2;
}
