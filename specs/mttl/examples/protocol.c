/* ExclusiveSections: a protocol for mutual exclusion. With `broken` each thread looks at the other's flag and then raises its own; with `kept` it raises its
 * own, looks, and waits. The observed runs have no overlap. */
#include <foresee.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int is_broken;
static volatile int flag[2];
static int x;

static void enter(int me, int pause) {
    if (is_broken) {
        while (flag[1 - me])
            usleep(1000);
        usleep(pause);
        flag[me] = 1;
    } else {
        usleep(pause);
        flag[me] = 1;
        while (flag[1 - me])
            usleep(1000);
    }
    FORESEE_LOCAL(critical, 1);
}

static void leave(int me) {
    FORESEE_LOCAL(critical, 0);
    flag[me] = 0;
}

static void *first(void *unused) {
    usleep(50000);
    enter(0, 0);
    x++;
    leave(0);
    return unused;
}

static void *second(void *unused) {
    enter(1, 150000);
    x++;
    leave(1);
    return unused;
}

int main(int argc, char **argv) {
    is_broken = argc > 1 && !strcmp(argv[1], "broken");
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return x != 2;
}
