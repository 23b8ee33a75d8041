/* RecoveredSections: a section without a lock, whose second visitor finds that it is not alone, and takes back what it did.
 * The recovery runs at the read of x, before x is written: x stays as the first thread left it. */
#include <foresee.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_locked, x, recovered;
static __thread int is_second, must_leave;

static void leave(const char *property, void *argument) {
    printf("%s: %s in the %s thread\n", property, (const char *)argument, is_second ? "second" : "first");
    must_leave = 1;
    recovered++;
}

static void critical(void) {
    if (is_locked)
        pthread_mutex_lock(&lock);
    FORESEE_LOCAL(critical, 1);
    int seen = x;
    if (!must_leave)
        x = seen + 1;
    FORESEE_LOCAL(critical, 0);
    if (is_locked)
        pthread_mutex_unlock(&lock);
}

static void *first(void *unused) {
    critical();
    return unused;
}

static void *second(void *unused) {
    is_second = 1;
    usleep(100000);
    critical();
    return unused;
}

int main(int argc, char **argv) {
    is_locked = argc > 1 && !strcmp(argv[1], "kept");
    static char what[] = "left";
    FORESEE_ON_VIOLATION("leave", leave, what);
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("x %d, recovered %d\n", x, recovered);
    return 0;
}
