// Calls functions of libraries: by name and by pointer, leaves them by an exception and by cancellation, and says what it does.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

struct connection;
extern "C" {
connection *gzopen(const char *path, const char *mode);
int gzputs(connection *file, const char *text);
int gzclose(connection *file);
int sqlite3_open(const char *name, connection **opened);
int sqlite3_close(connection *connection);
int sqlite3_exec(connection *connection, const char *sql, int (*each)(void *, int, char **, char **), void *arg, char **error);
}

static int fails(void *, int, char **, char **) { throw 42; }
static int counts(void *arg, int, char **, char **) { return ++*static_cast<int *>(arg); }

static void connections() {
    connection *one = nullptr;
    if (sqlite3_open(nullptr, &one) != 14) abort();
    printf("back sqlite3_open 14 @0 @0\n");
    if (sqlite3_open("one", &one) != 0) abort();
    printf("back sqlite3_open 0 \"one\" @%lu\n", (unsigned long)one);
    int count = 4;
    int result = sqlite3_exec(one, "", counts, &count, nullptr);
    printf("back sqlite3_exec %d @%lu\n", result, (unsigned long)one);
    try {
        sqlite3_exec(one, "", fails, nullptr, nullptr);
        abort();
    } catch (int thrown) {
        if (thrown != 42) abort();
    }
    printf("call sqlite3_close @%lu\n", (unsigned long)one);
    sqlite3_close(one);
}

static void streams() {
    connection *(*volatile open)(const char *, const char *) = gzopen;
    int (*volatile close)(connection *) = gzclose;
    connection *file = open("a", "b");
    printf("back gzopen @%lu\n", (unsigned long)file);
    gzputs(file, "text");
    printf("call gzputs @%lu \"text\"\n", (unsigned long)file);
    int result = close(file);
    printf("call gzclose @%lu\nback gzclose %d\n", (unsigned long)file, result);
}

static void descriptors() {
    int fd = open("/dev/null", O_WRONLY);
    printf("back open %d\n", fd);
    ssize_t written = write(fd, "abc", 3);
    printf("back write %zd %d 3\n", written, fd);
    close(fd);
    printf("back close 0 %d\n", fd);
    errno = 0;
    int again = close(fd);
    if (errno != EBADF) abort();
    printf("back close %d %d\n", again, fd);
}

static int ends[2];

static void *waits(void *) {
    char byte;
    for (;;) (void)!read(ends[0], &byte, 1);
}

static void cancellation() {
    pthread_t thread;
    void *result;
    if (pipe(ends)) abort();
    if (pthread_create(&thread, nullptr, waits, nullptr)) abort();
    printf("back pthread_create 0 %lu\n", (unsigned long)thread);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) abort();
}

int main() {
    connections();
    streams();
    descriptors();
    cancellation();
    return 0;
}
