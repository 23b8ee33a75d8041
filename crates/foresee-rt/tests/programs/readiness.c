// Threads learn from the kernel that something was given without reading it, or get it by way of another descriptor.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/mman.h>
#include <unistd.h>

static int data, ends[2], others[2], poller, event;

static void check(int good) {
    if (!good) abort();
}

static void write_byte(void) { check(write(ends[1], "x", 1) == 1); }
static void read_byte(int fd) {
    char byte;
    check(read(fd, &byte, 1) == 1);
}
static void polls(void) {
    struct pollfd one = {ends[0], POLLIN, 0};
    check(poll(&one, 1, -1) == 1);
}
static void selects(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    check(select(ends[0] + 1, &set, 0, 0, 0) == 1);
}
static void asks_how_much(void) {
    int count = 0;
    while (ioctl(ends[0], FIONREAD, &count) == 0 && count == 0) usleep(100);
}
static void add_event(void) { check(eventfd_write(event, 1) == 0); }
static void waits_for_event(void) {
    struct epoll_event happened;
    check(epoll_wait(poller, &happened, 1, -1) == 1);
}
static void splices(void) { check(splice(ends[0], 0, others[1], 0, 1, 0) == 1); }
static void sends_file(void) {
    off_t at = 0;
    int file = memfd_create("x", 0);
    check(write(file, "x", 1) == 1 && sendfile(others[1], file, &at, 1) == 1);
    close(file);
}
static void reads_other(void) { read_byte(others[0]); }

static void (*give)(void);
static void *giver(void *unused) {
    data = 7;
    give();
    return unused;
}
static void hand_over(void (*giving)(void), void (*getting)(void)) {
    pthread_t thread;
    data = 0;
    give = giving;
    pthread_create(&thread, 0, giver, 0);
    getting();
    check(data == 7);
    data = 1;
    pthread_join(thread, 0);
}

int main(void) {
    check(pipe(ends) == 0 && pipe(others) == 0);
    hand_over(write_byte, polls);
    read_byte(ends[0]);
    hand_over(write_byte, selects);
    read_byte(ends[0]);
    hand_over(write_byte, asks_how_much);
    hand_over(splices, reads_other);
    hand_over(sends_file, reads_other);
    event = eventfd(0, 0);
    poller = epoll_create1(0);
    struct epoll_event interest = {.events = EPOLLIN | EPOLLET};
    check(epoll_ctl(poller, EPOLL_CTL_ADD, event, &interest) == 0);
    hand_over(add_event, waits_for_event);
    return 0;
}
