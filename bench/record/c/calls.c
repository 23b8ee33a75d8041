// Calls one function very often, and prints how many nanoseconds of processor time a call took: `calls other|named TIMES`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// An instruction of five bytes that does nothing, so that there is room for a hook.
#define NOTHING ".byte 0x0f, 0x1f, 0x44, 0, 0"

__attribute__((noinline)) void other(long a, long b) { __asm__ volatile(NOTHING ::"r"(a), "r"(b)); }

__attribute__((noinline)) void named(long a, long b) { __asm__ volatile(NOTHING ::"r"(b), "r"(a)); }

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

int main(int count, char **arguments) {
    long times = count > 2 ? atol(arguments[2]) : 1000000;
    int is_named = count > 1 && strcmp(arguments[1], "named") == 0;
    double before = now();
    if (is_named) {
        for (long i = 0; i < times; i++) named(i, times);
    } else {
        for (long i = 0; i < times; i++) other(i, times);
    }
    printf("%f\n", (now() - before) / (double)times);
    return 0;
}
