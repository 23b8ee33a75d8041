// Two fibers on one thread, and one that moves to another thread.
#define _GNU_SOURCE
#include <pthread.h>
#include <ucontext.h>
#include <stdlib.h>
void *__tsan_get_current_fiber(void), *__tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void *), __tsan_switch_to_fiber(void *, unsigned), __tsan_set_fiber_name(void *, const char *);
static ucontext_t home, away;
static void *home_fiber, *away_fiber;
static int shared;
static void body(void) {
    for (;;) {
        shared++;
        __tsan_switch_to_fiber(home_fiber, 0);
        swapcontext(&away, &home);
    }
}
static void visit(void) {
    home_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(away_fiber, 0);
    swapcontext(&home, &away);
    shared++;
}
static void *elsewhere(void *unused) { visit(); return unused; }
int main(void) {
    getcontext(&away);
    away.uc_stack.ss_sp = malloc(1 << 16);
    away.uc_stack.ss_size = 1 << 16;
    makecontext(&away, body, 0);
    away_fiber = __tsan_create_fiber(0);
    __tsan_set_fiber_name(away_fiber, "fiber");
    visit();
    visit();
    pthread_t thread;
    pthread_create(&thread, 0, elsewhere, 0);
    pthread_join(thread, 0);
    visit();
    __tsan_destroy_fiber(away_fiber);
    return shared != 8;
}
