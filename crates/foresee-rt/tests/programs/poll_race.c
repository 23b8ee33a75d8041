// A poll that reports nothing, or another descriptor, orders nothing.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int ends[2], others[2];
static volatile int data;
static void *other(void *unused) {
    data = 1;
    if (write(ends[1], "x", 1) != 1) return &data;
    return unused;
}
int main(void) {
    if (pipe(ends) || pipe(others) || write(others[1], "x", 1) != 1) return 2;
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    usleep(20000);
    struct pollfd two[2] = {{others[0], POLLIN, 0}, {ends[1], 0, 0}};
    if (poll(two, 2, -1) != 1) return 3;
    data = 2;
    pthread_join(thread, 0);
    return 0;
}
