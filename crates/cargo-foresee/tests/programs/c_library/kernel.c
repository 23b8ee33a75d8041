// The kernel orders threads in more ways than by what they send each other: by ends that are opened, closed or made, by room, by signals that
// somebody asked for. In each program, `give` comes after a write of `data`, and `take` before it is read.
#include "programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int ends[2];
static struct sockaddr_in here;
static sigset_t asked;

static void pipe_made(void) { CHECK(pipe(ends) == 0); signal(SIGPIPE, SIG_IGN); }
static void close_reader(void) { close(ends[0]); }
static void write_in_vain(void) { while (write(ends[1], "a", 1) == 1) usleep(100); }
static void close_writer_by_range(void) { close_range(ends[1], ends[1], 0); }
static void read_to_end(void) { char byte; CHECK(read(ends[0], &byte, 1) == 0); }

static void pipe_filled(void) {
    static char page[4096];
    pipe_made();
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], page, sizeof page) > 0) {}
    fcntl(ends[1], F_SETFL, 0);
}
static void empty_pipe(void) { static char page[8192]; CHECK(read(ends[0], page, sizeof page) > 0); }
static void write_to_full(void) { CHECK(write(ends[1], "a", 1) == 1); }

static void socket_bound(void) {
    socklen_t len = sizeof here;
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(ends[0], (struct sockaddr *)&here, sizeof here) == 0);
    CHECK(getsockname(ends[0], (struct sockaddr *)&here, &len) == 0);
}
static void begin_to_listen(void) { CHECK(listen(ends[0], 4) == 0); }
static void connect_until_listening(void) {
    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&here, sizeof here) == 0) break;
        close(fd);
        usleep(100);
    }
}
static void socket_listening(void) { socket_bound(); begin_to_listen(); }
static void shut_down(void) { shutdown(ends[0], SHUT_RDWR); }
static void accept_in_vain(void) { CHECK(accept(ends[0], 0, 0) < 0); }

static void terminal_made(void) {
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0);
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
    CHECK(ends[1] >= 0);
}
static void type(void) { CHECK(write(ends[0], "a\n", 2) == 2); }
static void read_line(void) { char line[8]; CHECK(read(ends[1], line, sizeof line) > 0); }

static void fifo_made(void) { unlink("fifo"); CHECK(mkfifo("fifo", 0600) == 0); }
static void open_to_write(void) { ends[1] = open("fifo", O_WRONLY); CHECK(ends[1] >= 0); }
static void open_to_read(void) { ends[0] = open("fifo", O_RDONLY); CHECK(ends[0] >= 0); }

static void set_made(void) { ends[0] = semget(IPC_PRIVATE, 1, 0600); CHECK(ends[0] >= 0); }
static void remove_set(void) { semctl(ends[0], 0, IPC_RMID); }
static void wait_in_vain(void) { struct sembuf lower = {0, -1, 0}; CHECK(semop(ends[0], &lower, 1) < 0); }

static void pair_that_signals(void) {
    sigemptyset(&asked);
    sigaddset(&asked, SIGIO);
    pthread_sigmask(SIG_BLOCK, &asked, 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    fcntl(ends[1], F_SETOWN, getpid());
    fcntl(ends[1], F_SETFL, O_ASYNC);
}
static void write_to_other(void) { CHECK(write(ends[0], "a", 1) == 1); }
static void wait_for_signal(void) { int which; CHECK(sigwait(&asked, &which) == 0); }

static void nothing_made(void) { unlink("made"); }
static void make_by_child(void) { CHECK(system("touch made") == 0); }
static void look_for_made(void) { while (access("made", F_OK) != 0) usleep(1000); }
static void make_file(void) { close(open("made", O_CREAT | O_WRONLY, 0600)); }
static int is_made(const struct dirent *entry) { return strcmp(entry->d_name, "made") == 0; }
static void scan_for_made(void) {
    struct dirent **found;
    while (scandir(".", &found, is_made, 0) == 0) usleep(1000);
}

static struct {
    const char *name;
    void (*prepare)(void), (*give)(void), (*take)(void);
} programs[] = {
    {"reader_closed", pipe_made, close_reader, write_in_vain},
    {"range_closed", pipe_made, close_writer_by_range, read_to_end},
    {"full", pipe_filled, empty_pipe, write_to_full},
    {"listening", socket_bound, begin_to_listen, connect_until_listening},
    {"shut_down", socket_listening, shut_down, accept_in_vain},
    {"terminal", terminal_made, type, read_line},
    {"opened", fifo_made, open_to_write, open_to_read},
    {"removed", set_made, remove_set, wait_in_vain},
    {"signalled", pair_that_signals, write_to_other, wait_for_signal},
    {"by_child", nothing_made, make_by_child, look_for_made},
    {"scanned", nothing_made, make_file, scan_for_made},
    // Room is made by who reads, not by who writes; and a pipe that has room orders nobody who writes.
    {"wrong_room", pipe_made, write_to_full, write_to_full},
    {"wrong_end", terminal_made, type, nothing_made},
};
static int which;

static void *giver(void *unused) {
    usleep(MOMENT);
    data = 1;
    programs[which].give();
    return unused;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    while (strcmp(programs[which].name, arguments[1]) != 0) CHECK(++which < (int)(sizeof programs / sizeof *programs));
    programs[which].prepare();
    pthread_t thread = start(giver, 0);
    programs[which].take();
    seen = data;
    CHECK(seen == 1 || strncmp(arguments[1], "wrong", 5) == 0);
    finish(thread);
    return 0;
}
