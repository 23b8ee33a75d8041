// A library that is built without foresee: it orders threads by atomics that the program has, too.
#include "library.h"

#include <search.h>
#include <setjmp.h>
#include <unistd.h>

static void wait_for(int *flag) {
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) usleep(10);
}

static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }

static void wait_and_jump(int *flag, void *to) {
    wait_for(flag);
    longjmp(*(jmp_buf *)to, 1);
}

static void wait_and_call(int *flag, void (*call)(void)) {
    wait_for(flag);
    call();
}

const struct operations library = {wait_for, set, wait_and_jump, wait_and_call};

struct object *library_object;

void library_drop(void *of) {
    struct object *object = of;
    if (__atomic_fetch_sub(&object->owners, 1, __ATOMIC_ACQ_REL) == 1) object->destroy(object);
}

void library_drop_it(void) { library_drop(library_object); }
void library_visit(const void *node, VISIT visit, int depth) { library_drop(library_object); }
