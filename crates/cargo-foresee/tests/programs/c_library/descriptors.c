// The life of descriptors: who uses one when it is closed.
#include "programs.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define ROUNDS 20

static int ends[2];

static void *write_one(void *unused) {
    CHECK(write(ends[1], "x", 1) == 1);
    return unused;
}

// Closed by whoever joined the user.
static void joined(void) {
    CHECK(pipe(ends) == 0);
    finish(start(write_one, 0));
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

// Closed by whoever got what was written last, through the descriptor itself.
static void *read_and_close(void *unused) {
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    return unused;
}

static void last_read(void) {
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pipe(ends) == 0);
        pthread_t reader = start(read_and_close, 0);
        write_one(0);
        finish(reader);
    }
}

// Threads open and close files of their own, and get the numbers of each other's.
static void *own_files(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        char byte;
        int fd = open("/dev/zero", O_RDONLY);
        CHECK(read(fd, &byte, 1) == 1);
        int other = dup(fd);
        CHECK(read(other, &byte, 1) == 1 && close(fd) == 0 && close(other) == 0);
        FILE *stream = fopen("/dev/zero", "r");
        CHECK(read(fileno(stream), &byte, 1) == 1 && fclose(stream) == 0);
        int counter = eventfd(1, 0);
        eventfd_t value;
        CHECK(eventfd_read(counter, &value) == 0 && close(counter) == 0);
    }
    return unused;
}

static void reused(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(own_files, 0);
    own_files(0);
    for (int i = 0; i < 3; i++) finish(threads[i]);
}

// Owners count themselves, and the last one closes.
static int fd;
static atomic_int owners;

static void *drop(void *unused) {
    CHECK(write(fd, "x", 1) == 1);
    if (atomic_fetch_sub_explicit(&owners, 1, memory_order_acq_rel) == 1) CHECK(close(fd) == 0);
    return unused;
}

static void counted(void) {
    for (int round = 0; round < ROUNDS; round++) {
        fd = open("/dev/null", O_WRONLY);
        owners = 2;
        pthread_t other = start(drop, 0);
        drop(0);
        finish(other);
    }
}

// Whoever an epoll hands a descriptor to, once, has it alone, and closes it when the other side is closed.
static int poller, watched, served;

static void *serve(void *unused) {
    for (;;) {
        struct epoll_event event;
        char byte;
        if (epoll_wait(poller, &event, 1, -1) != 1) continue;
        if (event.data.fd < 0) return unused;
        if (read(event.data.fd, &byte, 1) == 1) {
            served++;
            struct epoll_event again = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = event.data.fd};
            CHECK(epoll_ctl(poller, EPOLL_CTL_MOD, event.data.fd, &again) == 0);
        } else {
            CHECK(close(event.data.fd) == 0);
            eventfd_write(watched, 1);
        }
    }
}

static void handed_over(void) {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    poller = epoll_create1(0);
    watched = eventfd(0, 0);
    struct epoll_event first = {.events = EPOLLIN | EPOLLONESHOT, .data.fd = ends[0]};
    struct epoll_event last = {.events = EPOLLIN, .data.fd = -1};
    CHECK(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &first) == 0);
    CHECK(epoll_ctl(poller, EPOLL_CTL_ADD, watched, &last) == 0);
    pthread_t one = start(serve, 0), other = start(serve, 0);
    for (int round = 0; round < ROUNDS; round++) CHECK(write(ends[1], "x", 1) == 1);
    CHECK(close(ends[1]) == 0);
    finish(one);
    finish(other);
    CHECK(served == ROUNDS && close(poller) == 0 && close(watched) == 0);
}

// What a number stands for is replaced in one step, while others use it.
static int stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *write_log(void *unused) {
    for (int is_over = 0; !is_over;) {
        CHECK(write(fd, "x", 1) == 1);
        pthread_mutex_lock(&mutex);
        is_over = stop;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void replaced(void) {
    fd = open("/dev/null", O_WRONLY);
    pthread_t writer = start(write_log, 0);
    for (int round = 0; round < ROUNDS; round++) {
        int next = open("/dev/null", O_WRONLY);
        CHECK(dup2(next, fd) == fd && close(next) == 0);
    }
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_mutex_unlock(&mutex);
    finish(writer);
    CHECK(close(fd) == 0);
}

// A child closes its copies.
static void forked(void) {
    CHECK(pipe(ends) == 0);
    pthread_t writer = start(write_one, 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        close(ends[1]);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    finish(writer);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

// The program ends while a thread goes on.
static void *write_for_ever(void *unused) {
    for (;;) {
        CHECK(write(fd, "x", 1) == 1);
        usleep(MOMENT);
    }
    return unused;
}

static void detached(void) {
    fd = open("/dev/null", O_WRONLY);
    pthread_detach(start(write_for_ever, 0));
    usleep(WHILE_OTHERS_RUN);
}

// What is not open is not closed.
static void *close_nothing(void *unused) {
    CHECK(close(-1) == -1 && close(900) == -1);
    return unused;
}

static void not_open(void) {
    pthread_t other = start(close_nothing, 0);
    close_nothing(0);
    finish(other);
}

// What is wrong. One thread comes after the other, but nothing orders them: a relaxed atomic tells that the first is done.

static atomic_int is_done;

static void done(void) { atomic_store_explicit(&is_done, 1, memory_order_relaxed); }

static void wait_until_done(void) {
    while (!atomic_load_explicit(&is_done, memory_order_relaxed)) usleep(MOMENT);
}

static void *write_first(void *unused) {
    write_one(0);
    done();
    return unused;
}

static void wrong_write(void) {
    CHECK(pipe(ends) == 0);
    pthread_t other = start(write_first, 0);
    wait_until_done();
    CHECK(close(ends[1]) == 0);
    finish(other);
}

static void *read_first(void *unused) {
    char byte;
    CHECK(recv(ends[0], &byte, 1, 0) == 1);
    done();
    return unused;
}

static void wrong_read(void) {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    write_one(0);
    pthread_t other = start(read_first, 0);
    wait_until_done();
    CHECK(close(ends[0]) == 0);
    finish(other);
}

static void *close_after(void *unused) {
    wait_until_done();
    CHECK(close(fd) == 0);
    return unused;
}

static void wrong_replacement(void) {
    fd = open("/dev/null", O_WRONLY);
    int next = open("/dev/null", O_WRONLY);
    pthread_t other = start(close_after, 0);
    CHECK(dup2(next, fd) == fd);
    done();
    finish(other);
}

// A lock orders the two in this run, but not in every run.
static void *use_locked(void *unused) {
    pthread_mutex_lock(&mutex);
    CHECK(write(fd, "x", 1) == 1);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void wrong_lock(void) {
    fd = open("/dev/null", O_WRONLY);
    pthread_t other = start(use_locked, 0);
    usleep(WHILE_OTHERS_RUN);
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_mutex_unlock(&mutex);
    CHECK(close(fd) == 0);
    finish(other);
}

int main(int count, char **words) {
    static const struct Program programs[] = {
        {"joined", joined},
        {"last_read", last_read},
        {"reused", reused},
        {"counted", counted},
        {"handed_over", handed_over},
        {"replaced", replaced},
        {"forked", forked},
        {"detached", detached},
        {"not_open", not_open},
        {"wrong_write", wrong_write},
        {"wrong_read", wrong_read},
        {"wrong_replacement", wrong_replacement},
        {"wrong_lock", wrong_lock},
        {0, 0},
    };
    return run(count, words, programs);
}
