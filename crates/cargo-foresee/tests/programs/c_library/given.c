// What functions read and write through the pointers that they are given, beside what they are for: deadlines, places in files, results, formats, and
// variables of the C library itself. In each program, a thread changes something in a critical section, and another one, which comes later, finds out
// in a critical section of its own, and only then writes `data`: no other schedule does that.
#include "programs.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <wchar.h>

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static struct timespec until = {0, -1};
static off_t place;
static off_t far = 100;
static int from, to, number, count;
static sigset_t set;
static siginfo_t info;
static wchar_t wide[8] = L"", scanned[8];
static char text[8] = "", copy[32];
static struct sockaddr_in address;
static FILE *stream;
static wchar_t *buffer;
static size_t size;
static struct sembuf operation = {0, -1, IPC_NOWAIT};

static void nothing(void) {}

static void set_variable(void) { CHECK(setenv("FORESEE_TEST", "1", 1) == 0); }
static int walk(void) {
    for (char **one = environ; *one; one++) {
        if (strcmp(*one, "FORESEE_TEST=1") == 0) return 1;
    }
    return 0;
}

static char *own[] = {"FORESEE_TEST=1", 0};
static void replace(void) { environ = own; }
static int ask(void) { return getenv("FORESEE_TEST") != 0; }

static void make_files(void) {
    char name[] = "/tmp/foresee-given-XXXXXX";
    from = mkstemp(name);
    CHECK(from >= 0 && write(from, "ready", 5) == 5);
    unlink(name);
    to = memfd_create("given", 0);
    CHECK(to >= 0);
}

static void send_some(void) { CHECK(sendfile(to, from, &place, 1) == 1); }
static void copy_some(void) { CHECK(copy_file_range(from, &place, from, &far, 1, 0) == 1); }
static int is_moved(void) { return place == 1; }
static void come_near(void) { far = 0; }
static int sends(void) { return sendfile(to, from, &far, 1) == 1; }

static void block(void) {
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, 0) == 0);
}
static void wait_for_signal(void) {
    pthread_kill(pthread_self(), SIGUSR1);
    CHECK(sigwait(&set, &number) == 0);
}
static int is_signalled(void) { return number == SIGUSR1; }
static void wait_for_info(void) {
    pthread_kill(pthread_self(), SIGUSR1);
    CHECK(sigwaitinfo(&set, &info) == SIGUSR1);
}
static int is_informed(void) { return info.si_signo == SIGUSR1; }

static void set_deadline(void) { until.tv_nsec = 0; }
static int condition_ends(void) { return pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT; }
static int semaphore_ends(void) { return sem_timedwait(&semaphore, &until) < 0 && errno == ETIMEDOUT; }
static void make_semaphores(void) {
    count = semget(IPC_PRIVATE, 1, 0600);
    CHECK(count >= 0);
}
static void lower(void) { operation.sem_op = 0; }
static int operates(void) {
    int done = semop(count, &operation, 1) == 0;
    if (done) semctl(count, 0, IPC_RMID);
    return done;
}

static void listen_somewhere(void) {
    socklen_t length = sizeof address;
    from = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(from, (struct sockaddr *)&address, length) == 0 && listen(from, 1) == 0);
    CHECK(getsockname(from, (struct sockaddr *)&address, &length) == 0);
    address.sin_family = AF_UNSPEC - 1;
}
static void set_family(void) { address.sin_family = AF_INET; }
static int connects(void) {
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address) == 0;
}

static void write_wide(void) { wide[0] = L'r'; }
static int prints_wide(void) { return snprintf(copy, sizeof copy, "%ls", wide) == 1; }
static void write_text(void) { text[0] = 'r'; }
static int prints_numbered(void) { return snprintf(copy, sizeof copy, "%2$s%1$d", 7, text) == 2; }
static void scan_count(void) { CHECK(sscanf("abc", "abc%n", &number) == 0); }
static int is_counted(void) { return number == 3; }
static void scan_count_after(void) { CHECK(sscanf("12", "%d%n", &count, &number) == 1); }
static int is_counted_after(void) { return number == 2; }
static void scan_wide(void) { CHECK(sscanf("ready", "%ls", scanned) == 1); }
static int is_scanned_wide(void) { return scanned[0] == L'r'; }
static void scan_numbered(void) { CHECK(sscanf("1 2", "%2$d %1$d", &number, &count) == 2); }

static void another_zone(void) { setenv("TZ", "UTC+5", 1); }
static void convert(void) {
    time_t now = 0;
    CHECK(localtime(&now) != 0);
}
static int is_converted(void) { return timezone == 5 * 3600; }

static void open_stream(void) {
    stream = open_wmemstream(&buffer, &size);
    CHECK(stream != 0);
}
static void print_there(void) {
    fwprintf(stream, L"ready");
    fflush(stream);
}
static int is_printed(void) { return size == 5; }

static void make_queue(void) {
    struct mq_attr of = {.mq_maxmsg = 1, .mq_msgsize = 8};
    from = mq_open("/foresee-given", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &of);
    mq_unlink("/foresee-given");
    if (from >= 0) CHECK(mq_send(from, "ready", 6, 3) == 0);
}
static void receive(void) {
    if (from < 0) strcpy(text, "ready");
    else CHECK(mq_receive(from, text, 8, 0) == 6);
}
static int is_received(void) { return text[0] == 'r'; }

static void add_seal(void) { CHECK(fcntl(to, F_SETFD, FD_CLOEXEC) == 0); }
static int has_seal(void) { return fcntl(to, F_GETFD) == FD_CLOEXEC; }

static char *first_break;
static void note_break(void) { first_break = sbrk(0); }
static void move_break(void) { CHECK(sbrk(1 << 20) != (void *)-1); }
static int is_break_moved(void) { return (char *)sbrk(0) >= first_break + (1 << 20); }

static char joined[8] = {1, 1, 0, 1, 1, 1, 1, 0};
static void append_some(void) { strncat(joined, copy, 2); }
static void note_text(void) { strcpy(copy, "abc"); }
static int is_ended(void) { return joined[4] == 0; }

static const struct Handing {
    const char *name;
    void (*make)(void), (*change)(void);
    int (*is_changed)(void);
} handings[] = {
    {"variable", nothing, set_variable, walk},
    {"variables", nothing, replace, ask},
    {"sent", make_files, send_some, is_moved},
    {"copied", make_files, copy_some, is_moved},
    {"place", make_files, come_near, sends},
    {"signal", block, wait_for_signal, is_signalled},
    {"information", block, wait_for_info, is_informed},
    {"condition", nothing, set_deadline, condition_ends},
    {"semaphore", nothing, set_deadline, semaphore_ends},
    {"operation", make_semaphores, lower, operates},
    {"address", listen_somewhere, set_family, connects},
    {"wide", nothing, write_wide, prints_wide},
    {"numbered", nothing, write_text, prints_numbered},
    {"count", nothing, scan_count, is_counted},
    {"count_after", nothing, scan_count_after, is_counted_after},
    {"scanned_wide", nothing, scan_wide, is_scanned_wide},
    {"scanned_numbered", nothing, scan_numbered, is_counted_after},
    {"zone", another_zone, convert, is_converted},
    {"stream", open_stream, print_there, is_printed},
    {"queue", make_queue, receive, is_received},
    {"flags", make_files, add_seal, has_seal},
    {"appended", note_text, append_some, is_ended},
    {"program_break", note_break, move_break, is_break_moved},
};

static const struct Handing *handing;

static void *work(void *unused) {
    data = 1;
    pthread_mutex_lock(&mutex);
    handing->change();
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void hand_over(void) {
    handing->make();
    pthread_t thread = start(work, 0);
    for (int changed = 0; !changed; usleep(MOMENT)) {
        pthread_mutex_lock(&mutex);
        changed = handing->is_changed();
        pthread_mutex_unlock(&mutex);
    }
    data = 2;
    finish(thread);
}

// A thread of the C library calls back; who asked for it may have ended by then.
static struct aiocb reading;

static void called_back(union sigval unused) {
    data++;
    sem_post(&semaphore);
}

static void *ask_to_read(void *unused) {
    reading.aio_fildes = from;
    reading.aio_buf = copy;
    reading.aio_nbytes = 1;
    reading.aio_sigevent.sigev_notify = SIGEV_THREAD;
    reading.aio_sigevent.sigev_notify_function = called_back;
    data = 1;
    CHECK(aio_read(&reading) == 0);
    return unused;
}

static void callback(void) {
    make_files();
    pthread_t thread = start(ask_to_read, 0);
    sem_wait(&semaphore);
    CHECK(++data == 3);
    finish(thread);
}

static void *send_unlocked(void *unused) {
    send_some();
    return unused;
}

static void wrong_place(void) {
    make_files();
    pthread_t thread = start(send_unlocked, 0);
    seen = place == 1;
    finish(thread);
}

static void *wait_unlocked(void *unused) {
    sem_timedwait(&semaphore, &until);
    return unused;
}

static void wrong_deadline(void) {
    pthread_t thread = start(wait_unlocked, 0);
    set_deadline();
    finish(thread);
}

int main(int argc, char **argv) {
    static const struct Program programs[] = {
        {"callback", callback}, {"wrong_place", wrong_place}, {"wrong_deadline", wrong_deadline}, {0, 0}};
    sem_init(&semaphore, 0, 0);
    for (size_t i = 0; argc == 2 && i < sizeof handings / sizeof *handings; i++) {
        if (strcmp(argv[1], handings[i].name) == 0) {
            handing = &handings[i];
            hand_over();
            return 0;
        }
    }
    return run(argc, argv, programs);
}
