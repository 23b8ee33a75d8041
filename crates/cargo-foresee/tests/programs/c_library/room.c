// Who gives to what is full waits until somebody takes, even if that was before; and what the C library itself gives, and calls.
#include "programs.h"

#include <err.h>
#include <execinfo.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <syslog.h>

static int ends[2];
static char page[4096], taken[4096];

// Takes from what was full, before the other thread comes to give: only then is there room.
static void *take_page(void *unused) {
    data = 1;
    CHECK(read(ends[0], taken, sizeof taken) == sizeof taken);
    return unused;
}

static void fill(int fd) {
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    while (write(fd, page, sizeof page) > 0);
    CHECK(fcntl(fd, F_SETFL, 0) == 0);
}

static void after_taker(void *(*take)(void *)) {
    pthread_t taking = start(take, 0);
    usleep(WHILE_OTHERS_RUN);
    CHECK(write(ends[1], page, sizeof page) > 0);
    CHECK(data == 1);
    data = 2;
    finish(taking);
}

static void drained_pipe(void) {
    CHECK(pipe(ends) == 0);
    fill(ends[1]);
    after_taker(take_page);
}

static void *take_all(void *unused) {
    data = 1;
    CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    while (read(ends[0], taken, sizeof taken) > 0);
    return unused;
}

static void drained_sockets(void) {
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    fill(ends[1]);
    after_taker(take_all);
}

static void *take_events(void *unused) {
    uint64_t count;
    data = 1;
    CHECK(read(ends[0], &count, sizeof count) == sizeof count);
    return unused;
}

static void drained_counter(void) {
    ends[0] = eventfd(0, 0);
    CHECK(eventfd_write(ends[0], UINT64_MAX - 1) == 0);
    pthread_t taking = start(take_events, 0);
    usleep(WHILE_OTHERS_RUN);
    CHECK(eventfd_write(ends[0], 1) == 0);
    CHECK(data == 1);
    finish(taking);
}

static mqd_t queue;

static void *receive(void *unused) {
    char message[8];
    data = 1;
    CHECK(mq_receive(queue, message, sizeof message, 0) == 1);
    return unused;
}

// A queue that holds one message, and has it.
static void fill_queue(void) {
    struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[40];
    sprintf(name, "/foresee-%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
    CHECK(queue >= 0 && mq_unlink(name) == 0 && mq_send(queue, "a", 1, 0) == 0);
}

static void drained_queue(void) {
    fill_queue();
    pthread_t receiving = start(receive, 0);
    usleep(WHILE_OTHERS_RUN);
    CHECK(mq_send(queue, "b", 1, 0) == 0);
    CHECK(data == 1);
    finish(receiving);
}

static void *receive_later(void *unused) {
    usleep(WHILE_OTHERS_RUN);
    return receive(unused);
}

static void full_queue(void) {
    fill_queue();
    pthread_t receiving = start(receive_later, 0);
    CHECK(mq_send(queue, "b", 1, 0) == 0);
    CHECK(data == 1);
    finish(receiving);
}

// The same by streams.
static void *get_page(void *stream) {
    data = 1;
    CHECK(fread(taken, 1, sizeof taken, stream) == sizeof taken);
    return 0;
}

static void drained_by_stream(void) {
    CHECK(pipe(ends) == 0);
    fill(ends[1]);
    FILE *from = fdopen(ends[0], "r"), *to = fdopen(ends[1], "w");
    pthread_t taking = start(get_page, from);
    usleep(WHILE_OTHERS_RUN);
    CHECK(fputs("more", to) >= 0 && fflush(to) == 0);
    CHECK(data == 1);
    finish(taking);
}

static void told_by_epoll(void) {
    struct epoll_event event = {.events = EPOLLOUT}, told;
    CHECK(pipe(ends) == 0);
    fill(ends[1]);
    int epoll = epoll_create1(0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[1], &event) == 0);
    pthread_t taking = start(take_page, 0);
    CHECK(epoll_wait(epoll, &told, 1, -1) == 1);
    CHECK(data == 1);
    data = 2;
    finish(taking);
}

// A writer that never had to wait learns nothing of who reads.
static void wrong_room(void) {
    CHECK(pipe(ends) == 0 && write(ends[1], page, 8) == 8);
    pthread_t taking = start(take_events, 0);
    CHECK(write(ends[1], page, 8) == 8);
    data = 2;
    finish(taking);
}

// What the C library writes to the standard error, somebody may read.
static void *read_line(void *unused) {
    char line[300];
    CHECK(read(ends[0], line, sizeof line) > 0);
    CHECK(data == 1);
    return unused;
}

static void by_standard_error(void (*tell)(void)) {
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    pthread_t reading = start(read_line, 0);
    data = 1;
    tell();
    finish(reading);
}

static void warn_with(void) { warn("%s", "a warning"); }
static void warn_without(void) { warnx("a warning of %d", 1); }
static void warn_nothing(void) { warn(0); }
static void tell_signal(void) { psignal(1, "signal"); }
static void tell_log(void) {
    openlog("foresee", LOG_PERROR, LOG_USER);
    syslog(LOG_INFO, "%s", "a line of the log");
}
static void tell_addresses(void) {
    void *addresses[4];
    backtrace_symbols_fd(addresses, backtrace(addresses, 4), 2);
}

static void warned(void) { by_standard_error(warn_with); }
static void warned_without_error(void) { by_standard_error(warn_without); }
static void warned_of_nothing(void) { by_standard_error(warn_nothing); }
static void signal_told(void) { by_standard_error(tell_signal); }
static void logged(void) { by_standard_error(tell_log); }
static void addresses_told(void) { by_standard_error(tell_addresses); }

static void unwatched(void) {
    ends[0] = inotify_init();
    int watch = inotify_add_watch(ends[0], "/", IN_DELETE_SELF);
    CHECK(watch >= 0);
    pthread_t reading = start(read_line, 0);
    data = 1;
    CHECK(inotify_rm_watch(ends[0], watch) == 0);
    finish(reading);
}

// Whoever forks runs the handlers that others have registered.
static int is_registered;

static void at_fork(void) { seen = data; }

static void *register_handler(void *unused) {
    data = 1;
    CHECK(pthread_atfork(at_fork, 0, 0) == 0);
    __atomic_store_n(&is_registered, 1, __ATOMIC_RELAXED);
    return unused;
}

static void handlers_of_fork(void) {
    pthread_t registering = start(register_handler, 0);
    while (!__atomic_load_n(&is_registered, __ATOMIC_RELAXED)) usleep(MOMENT);
    if (fork() == 0) _exit(0);
    CHECK(seen == 1);
    finish(registering);
}

int main(int count, char **words) {
    static const struct Program programs[] = {
        {"drained_pipe", drained_pipe},
        {"drained_sockets", drained_sockets},
        {"drained_counter", drained_counter},
        {"drained_queue", drained_queue},
        {"full_queue", full_queue},
        {"drained_by_stream", drained_by_stream},
        {"told_by_epoll", told_by_epoll},
        {"wrong_room", wrong_room},
        {"warned", warned},
        {"warned_without_error", warned_without_error},
        {"warned_of_nothing", warned_of_nothing},
        {"signal_told", signal_told},
        {"logged", logged},
        {"addresses_told", addresses_told},
        {"unwatched", unwatched},
        {"handlers_of_fork", handlers_of_fork},
        {0, 0},
    };
    return run(count, words, programs);
}
