// Correct programs that a library orders which is not recorded, and which is called by addresses or by the system; the first word says which.
#include "library.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int flag;
static volatile int data;
static struct object *object;
static const struct operations *volatile operations = &library;
static void (*volatile drop)(void *) = library_drop;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *which;

static int is(const char *name) { return strcmp(which, name) == 0; }

static void destroy(struct object *of) { free(of); }

static void use(void) { data++; }

static int same(const void *a, const void *b) { return 0; }

// Waits in the library until the flag is set.
static void *wait_there(void *unused) {
    static jmp_buf back;
    if (is("waits")) {
        operations->wait(&flag);
        use();
    } else if (is("jumps")) {
        if (!setjmp(back)) operations->wait_and_jump(&flag, &back);
        use();
    } else {
        operations->wait_and_call(&flag, use);
    }
    return unused;
}

// Drops the object in the library, as the last.
static void *drop_there(void *unused) {
    static void *root;
    if (is("by_key")) pthread_setspecific(key, object);
    usleep(30000);
    if (is("by_address")) drop(object);
    if (is("by_once")) pthread_once(&once, library_drop_it);
    if (is("by_walk")) {
        tsearch(&flag, &root, same);
        twalk(root, library_visit);
    }
    return unused;
}

int main(int words, char **word) {
    pthread_t thread;
    which = words > 1 ? word[1] : "";
    if (is("waits") || is("jumps") || is("calls")) {
        pthread_create(&thread, 0, wait_there, 0);
        use();
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    } else {
        library_object = object = malloc(sizeof *object);
        *object = (struct object){2, 1, destroy};
        pthread_key_create(&key, library_drop);
        pthread_create(&thread, 0, drop_there, 0);
        object->value++;
        if (__atomic_fetch_sub(&object->owners, 1, __ATOMIC_ACQ_REL) == 1) object->destroy(object);
    }
    pthread_join(thread, 0);
    return 0;
}
