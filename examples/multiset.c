/* The multiset in an array of the paper on refinement checking (VYRD, PLDI 2005), in C.
 *
 *     foresee cc -g -DBUG -o multiset multiset.c -lpthread && foresee record -o run.ft -- ./multiset
 *     foresee refine --model multiset run.ft
 *
 * finds the bug; without -DBUG there is nothing to be found.
 *
 * Each slot has a lock. insert_pair reserves two slots and then makes both elements valid. With -DBUG it does so one after the other, each under
 * the lock of its slot alone: between the two, others see half of a pair. The run itself is fine, as the threads hardly ever meet;
 * foresee finds the run in which one comes in between.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <foresee.h>

#define SLOTS 8

static struct slot {
    pthread_mutex_t lock;
    int element, reserved, valid;
} slots[SLOTS];

static void log_slot(int index, const char *field, int is_valid, int element) {
    char name[32];
    (void)is_valid, (void)element;
    snprintf(name, sizeof name, "A[%d].%s", index, field);
    if (field[0] == 'v')
        FORESEE_LOG_WRITE(name, FORESEE_BOOL(is_valid));
    else
        FORESEE_LOG_WRITE(name, FORESEE_INT(element));
}

/* Reserves one of the slots from `first` to `last` for an element. */
static int find_slot(int first, int last, int x) {
    for (int i = first; i <= last; i++) {
        pthread_mutex_lock(&slots[i].lock);
        int is_free = !slots[i].reserved;
        if (is_free) {
            slots[i].reserved = 1;
            slots[i].element = x;
            log_slot(i, "elt", 0, x);
        }
        pthread_mutex_unlock(&slots[i].lock);
        if (is_free)
            return i;
    }
    return -1;
}

static void make_valid(int i) {
    slots[i].valid = 1;
    log_slot(i, "valid", 1, 0);
}

static const char *insert(int first, int last, int x) {
    FORESEE_OPERATION("insert", FORESEE_INT(x));
    const char *result = "failure";
    int i = find_slot(first, last, x);
    if (i < 0) {
        FORESEE_COMMIT();
    } else {
        pthread_mutex_lock(&slots[i].lock);
        FORESEE_COMMIT_BEGIN();
        make_valid(i);
        FORESEE_COMMIT();
        FORESEE_COMMIT_END();
        pthread_mutex_unlock(&slots[i].lock);
        result = "success";
    }
    FORESEE_RETURN("insert", FORESEE_STR(result));
    return result;
}

static const char *insert_pair(int first, int last, int x, int y) {
    FORESEE_OPERATION("insertPair", FORESEE_INT(x), FORESEE_INT(y));
    int i = find_slot(first, last, x), j = find_slot(first, last, y);
    if (i < 0 || j < 0) {
        FORESEE_COMMIT();
        FORESEE_RETURN("insertPair", FORESEE_STR("failure"));
        return "failure";
    }
#ifdef BUG
    pthread_mutex_lock(&slots[i].lock);
    make_valid(i);
    pthread_mutex_unlock(&slots[i].lock);
    pthread_mutex_lock(&slots[j].lock);
    make_valid(j);
    FORESEE_COMMIT();
    pthread_mutex_unlock(&slots[j].lock);
#else
    /* Slots are found from the front, so the locks are always taken in this order. */
    pthread_mutex_lock(&slots[i].lock);
    pthread_mutex_lock(&slots[j].lock);
    FORESEE_COMMIT_BEGIN();
    make_valid(i);
    make_valid(j);
    FORESEE_COMMIT();
    FORESEE_COMMIT_END();
    pthread_mutex_unlock(&slots[j].lock);
    pthread_mutex_unlock(&slots[i].lock);
#endif
    FORESEE_RETURN("insertPair", FORESEE_STR("success"));
    return "success";
}

/* Each thread has its half of the slots. */
static void *ann(void *unused) {
    insert_pair(0, 3, 5, 7);
    return unused;
}

static void *bob(void *unused) {
    usleep(100000); /* Bob has his coffee first */
    insert(4, 7, 3);
    return unused;
}

int main(void) {
    pthread_t first, second;
    for (int i = 0; i < SLOTS; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    pthread_create(&first, NULL, ann, NULL);
    pthread_create(&second, NULL, bob, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    puts("three elements");
    return 0;
}
