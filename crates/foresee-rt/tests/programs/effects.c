// Functions of the C library do what they do, recorded or not: the results are checked, and everything is done by two threads under a lock.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#define CHECK(what) ((what) ? (void)0 : (fprintf(stderr, "wrong: %s\n", #what), abort()))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile size_t too_many = -1;
static char buffer[256], other[256];
static int numbers[4];
static int ends[2];
static struct stat about;
static struct timespec now;
static struct tm date;
static int through(char *to, size_t room, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int len = vsnprintf(to, room, format, list);
    va_end(list);
    return len;
}
static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void all(void) {
    CHECK(sprintf(buffer, "%d %s %5.2f %Lf %c %ld %d %d %s %.3s|%*d", 1, "two", 3.0, 4.0L, '5', 6L, 7, 8, "nine", "tenth", 4, 11) == 42);
    CHECK(strcmp(buffer, "1 two  3.00 4.000000 5 6 7 8 nine ten|  11") == 0);
    CHECK(snprintf(buffer, 4, "%s", "longer") == 6 && strcmp(buffer, "lon") == 0);
    CHECK(through(buffer, sizeof buffer, "%g %s", 0.5, "half") == 8 && strcmp(buffer, "0.5 half") == 0);
    double half = 0;
    CHECK(sscanf(buffer, "%lf %200s%n", &half, other, &numbers[0]) == 2 && half == 0.5 && numbers[0] == 8);
    char *made = 0, *end = 0, *rest = 0;
    CHECK(asprintf(&made, "%s-%i", "made", 42) == 7 && strcmp(made, "made-42") == 0);
    CHECK(strtol(made + 5, &end, 10) == 42 && *end == 0 && atoi("17x") == 17 && strtod("2.5e1z", &end) == 25 && *end == 'z' && atof("1.5") == 1.5);
    CHECK(strcmp(strtok_r(made, "-", &rest), "made") == 0 && strcmp(strtok_r(0, "-", &rest), "42") == 0 && !strtok_r(0, "-", &rest));
    made = realloc(made, 5000);
    CHECK(strcmp(made, "made") == 0);
    made = reallocarray(made, 10, 1);
    CHECK(strcmp(made, "made") == 0 && reallocarray(0, too_many, 2) == 0);
    free(made);
    CHECK(strcasecmp("ABC", "abc") == 0 && strncasecmp("abX", "ABy", 2) == 0 && strspn("aab", "a") == 2 && memrchr("abab", 'a', 4) != 0);
    CHECK(*stpcpy(buffer, "text") == 0 && memmem(buffer, 4, "xt", 2) == buffer + 2 && mempcpy(other, buffer, 5) == other + 5);
    for (int i = 0; i < 4; i++) numbers[i] = 4 - i;
    qsort(numbers, 4, sizeof *numbers, ascending);
    CHECK(numbers[0] == 1 && numbers[3] == 4);
    CHECK(pipe(ends) == 0);
    struct iovec out[2] = {{"ab", 2}, {"cde", 3}}, in[2] = {{buffer, 1}, {other, 200}};
    CHECK(writev(ends[1], out, 2) == 5 && readv(ends[0], in, 2) == 5 && buffer[0] == 'a' && memcmp(other, "bcde", 4) == 0);
    FILE *stream = fdopen(ends[0], "r");
    CHECK(write(ends[1], "line one\nline two\n", 18) == 18 && close(ends[1]) == 0);
    CHECK(fgets(buffer, sizeof buffer, stream) && strcmp(buffer, "line one\n") == 0);
    made = 0;
    size_t room = 0;
    CHECK(getline(&made, &room, stream) == 9 && strcmp(made, "line two\n") == 0 && getline(&made, &room, stream) == -1);
    free(made);
    fclose(stream);
    CHECK(stat("/", &about) == 0 && S_ISDIR(about.st_mode) && stat("/no such file", &about) == -1);
    CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0 && localtime_r(&now.tv_sec, &date) == &date && strftime(buffer, sizeof buffer, "%Y", &date) == 4);
    int *page = valloc(10);
    CHECK(((size_t)page & 4095) == 0);
    free(page);
    flockfile(stdout);
    putc_unlocked('x', stdout);
    funlockfile(stdout);
}
static void *run(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        all();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
