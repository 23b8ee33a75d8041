// The byte goes the other way: it orders nothing.
#include <pthread.h>
#include <unistd.h>
static int ends[2], other_ends[2];
static volatile int data;
static void *other(void *unused) {
    char c = 'x';
    if (write(ends[1], &c, 1) != 1) return unused;
    data = 1;
    return unused;
}
int main(void) {
    char c = 'x';
    if (pipe(ends) || pipe(other_ends)) return 2;
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    if (read(ends[0], &c, 1) != 1 || write(other_ends[1], &c, 1) != 1) return 3;
    data = 2;
    pthread_join(thread, 0);
    return 0;
}
