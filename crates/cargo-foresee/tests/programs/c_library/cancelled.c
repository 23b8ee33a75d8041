// Cancelled threads: their handlers and destructors come after what was done before they were cancelled.
#include "programs.h"

#include <semaphore.h>

static int ends[2];
static FILE *in;

static void make_pipe(void) {
    CHECK(pipe(ends) == 0);
    in = fdopen(ends[0], "r");
    CHECK(in);
}

static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;

static void clean_up(void *how) {
    seen = data;
    if ((long)how == 3) pthread_mutex_unlock(&mutex);
}

static void destroy(void *unused) { seen += data; }

static void *wait_for_ever(void *how) {
    char text[10];
    int state;
    pthread_setspecific(key, &key);
    pthread_cleanup_push(clean_up, how);
    for (;;) {
        switch ((long)how) {
        case 0: pthread_testcancel(); break;
        case 1: (void)!read(ends[0], text, 1); break;
        case 2: sem_wait(&semaphore); break;
        case 3: pthread_mutex_lock(&mutex); for (;;) pthread_cond_wait(&condition, &mutex);
        case 4: fgets(text, sizeof text, in); break;
        case 5: sleep(1); break;
        case 6: pause(); break;
        default:
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
            usleep(MOMENT);
            pthread_setcancelstate(state, 0);
            pthread_testcancel();
        }
    }
    pthread_cleanup_pop(0);
    return 0;
}

static void cancelled(void) {
    make_pipe();
    sem_init(&semaphore, 0, 0);
    pthread_key_create(&key, destroy);
    for (long how = 0; how < 8; how++) {
        pthread_t thread = start(wait_for_ever, (void *)how);
        usleep(WHILE_OTHERS_RUN);
        data = 1 + how;
        pthread_cancel(thread);
        finish(thread);
        CHECK(seen == 2 * data);
    }
}

// What is wrong: the canceller writes too late.

static void see(void *unused) { seen = data; }

static void *wait_to_see(void *unused) {
    pthread_cleanup_push(see, 0);
    for (;;) usleep(MOMENT);
    pthread_cleanup_pop(0);
    return unused;
}

static void wrong_cancel(void) {
    pthread_t thread = start(wait_to_see, 0);
    usleep(WHILE_OTHERS_RUN);
    pthread_cancel(thread);
    data = 2;
    finish(thread);
}

int main(int count, char **words) {
    static const struct Program programs[] = {
        {"cancelled", cancelled},
        {"wrong_cancel", wrong_cancel},
        {0, 0},
    };
    return run(count, words, programs);
}
