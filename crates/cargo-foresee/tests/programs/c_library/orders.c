// What the C library orders by means of its own: streams, names of files, cancelled threads. Each function is one program: it hands `data`
// over from one thread to another, or fails to.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#define CHECK(what) ((what) ? (void)0 : (dprintf(2, "wrong: %s\n", #what), abort()))
#define MOMENT 2000

typedef void *(*Routine)(void *);

int data, seen;
static int ends[2];
static FILE *in, *out;

static pthread_t start(Routine routine, void *with) {
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, routine, with) == 0);
    return thread;
}

static void finish(pthread_t thread) { CHECK(pthread_join(thread, 0) == 0); }

static void make_pipe(void) {
    CHECK(pipe(ends) == 0);
    in = fdopen(ends[0], "r");
    out = fdopen(ends[1], "w");
    CHECK(in && out);
}

// Each way to send a line by a stream, and each way to get it.

static void send(long how) {
    static char block[70000];
    switch (how) {
    case 0: fprintf(out, "%s\n", "line"); fflush(out); break;
    case 1: fputs("line\n", out); fflush(0); break;
    case 2: fwrite("line\n", 1, 5, out); fclose(out); break;
    case 3: fputc('x', out); putc('\n', out); fflush(out); break;
    case 4: setvbuf(out, 0, _IONBF, 0); fputs("line\n", out); break;
    case 5: setlinebuf(out); fputs("line\n", out); break;
    case 6: dprintf(ends[1], "line%s", "\n"); break;
    case 7: fputs("line\n", out); fseek(out, 0, SEEK_CUR); fflush(out); break;
    case 8: putc_unlocked('x', out); putc_unlocked('\n', out); fflush_unlocked(out); break;
    case 9: fputws(L"line\n", out); fflush(out); break;
    default: memset(block, '\n', sizeof block); fwrite(block, 1, sizeof block, out); fflush(out); break;
    }
}

static void receive(long how) {
    char text[100], *line = 0;
    size_t room = 0;
    wchar_t wide[20];
    switch (how) {
    case 0: CHECK(fgets(text, sizeof text, in)); break;
    case 1: CHECK(fread(text, 1, 2, in) == 2); break;
    case 2: while (fgetc(in) != EOF) {} CHECK(feof(in)); break;
    case 3: CHECK(getline(&line, &room, in) > 0); free(line); break;
    case 4: CHECK(fscanf(in, "%99s", text) == 1); break;
    case 5: CHECK(ungetc(getc(in), in) == 'l'); break;
    case 6: CHECK(getdelim(&line, &room, '\n', in) > 0); free(line); break;
    case 7: CHECK(fgets_unlocked(text, sizeof text, in)); break;
    case 8: CHECK(getc_unlocked(in) == 'x'); break;
    case 9: CHECK(fgetws(wide, 20, in)); break;
    default: CHECK(read(ends[0], text, 1) == 1); break;
    }
}

static void *sender(void *how) {
    usleep(MOMENT);
    data = 1 + (long)how;
    send((long)how);
    return 0;
}

static void pipes(void) {
    for (long how = 0; how < 10; how++) {
        make_pipe();
        pthread_t thread = start(sender, (void *)how);
        receive(how);
        CHECK(data == 1 + how);
        finish(thread);
    }
}

static void *send_long(void *unused) {
    usleep(MOMENT);
    data = 1;
    send(10);
    return unused;
}

// What does not fit into the buffer is written before the call returns.
static void long_message(void) {
    make_pipe();
    pthread_t thread = start(send_long, 0);
    receive(10);
    CHECK(data == 1);
    static char rest[69999];
    CHECK(fread(rest, 1, sizeof rest, in) == sizeof rest);
    finish(thread);
}

static void *print(void *unused) {
    usleep(MOMENT);
    data = 1;
    printf("line %d\n", 1);
    fflush(stdout);
    return unused;
}

static void standard_output(void) {
    char text[7];
    make_pipe();
    CHECK(dup2(ends[1], 1) == 1);
    pthread_t thread = start(print, 0);
    CHECK(read(ends[0], text, sizeof text) == sizeof text && data == 1);
    finish(thread);
}

static void *take_line(void *unused) {
    char text[100];
    CHECK(fgets(text, sizeof text, in) && data == 1);
    seen = 1;
    return unused;
}

static void child(void) {
    make_pipe();
    CHECK(dup2(ends[1], 9) == 9);
    pthread_t thread = start(take_line, 0);
    usleep(MOMENT);
    data = 1;
    FILE *to_child = popen("cat >&9", "w");
    fputs("line\n", to_child);
    CHECK(pclose(to_child) == 0);
    finish(thread);
}

static void *put_byte(void *unused) {
    usleep(MOMENT);
    data = 1;
    fputc('x', out);
    return unused;
}

// Nothing goes through a descriptor: the stream's own lock orders, and its position shows that it did.
static void position(void) {
    out = tmpfile();
    pthread_t thread = start(put_byte, 0);
    while (ftell(out) == 0) usleep(MOMENT);
    CHECK(data == 1);
    finish(thread);
}

static void *wait_for_line(void *unused) {
    char text[10];
    fgets(text, sizeof text, in);
    return unused;
}

// A thread that is cancelled while it has a stream gives it back.
static void stream_of_cancelled(void) {
    make_pipe();
    pthread_t thread = start(wait_for_line, 0);
    usleep(MOMENT);
    pthread_cancel(thread);
    finish(thread);
    thread = start(sender, 0);
    receive(0);
    CHECK(data == 1);
    finish(thread);
}

// Names of files.

static void *make_names(void *how) {
    usleep(MOMENT);
    data = 1 + (long)how;
    switch ((long)how) {
    case 0: CHECK(rename("old", "new") == 0); break;
    case 1: CHECK(mkdir("new", 0700) == 0); break;
    case 2: CHECK(symlink("old", "new") == 0); break;
    case 3: CHECK(link("old", "new") == 0); break;
    case 4: CHECK(close(open("new", O_CREAT | O_EXCL | O_WRONLY, 0600)) == 0); break;
    case 5: CHECK(unlink("old") == 0); break;
    case 6: CHECK(fclose(fopen("new", "w")) == 0); break;
    case 7: CHECK(close(creat("./new", 0600)) == 0); break;
    case 8: CHECK(truncate("old", 10) == 0); break;
    default: CHECK(chmod("old", 0640) == 0); break;
    }
    return 0;
}

static int is_listed(const char *name) {
    DIR *here = opendir(".");
    int found = 0;
    for (struct dirent *entry; (entry = readdir(here));) found |= strcmp(entry->d_name, name) == 0;
    closedir(here);
    return found;
}

static int is_made(long how) {
    struct stat about;
    int fd;
    switch (how) {
    case 0: return stat("new", &about) == 0;
    case 1: return access("./new", F_OK) == 0;
    case 2: return lstat("new", &about) == 0;
    case 3: return is_listed("new");
    case 4: return (fd = open("new", O_RDONLY)) >= 0 && close(fd) == 0;
    case 5: return access("old", F_OK) != 0;
    case 6: return mkdir("new", 0700) != 0 || rmdir("new") != 0;
    case 7: return (fd = openat(AT_FDCWD, "new", O_RDONLY)) >= 0 && close(fd) == 0;
    case 8: return stat("old", &about) == 0 && about.st_size == 10;
    default: return stat("old", &about) == 0 && (about.st_mode & 0777) == 0640;
    }
}

static void names(void) {
    for (long how = 0; how < 10; how++) {
        remove("new");
        CHECK(close(open("old", O_CREAT | O_TRUNC | O_WRONLY, 0600)) == 0);
        pthread_t thread = start(make_names, (void *)how);
        while (!is_made(how)) usleep(MOMENT);
        CHECK(data == 1 + how);
        finish(thread);
        remove("new");
        remove("old");
    }
}

// Cancelled threads.

static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;

static void clean_up(void *how) {
    seen = data;
    if ((long)how == 3) pthread_mutex_unlock(&mutex);
}

static void destroy(void *unused) { seen += data; }

static void *wait_for_ever(void *how) {
    char text[10];
    int state;
    pthread_setspecific(key, &key);
    pthread_cleanup_push(clean_up, how);
    for (;;) {
        switch ((long)how) {
        case 0: pthread_testcancel(); break;
        case 1: (void)!read(ends[0], text, 1); break;
        case 2: sem_wait(&semaphore); break;
        case 3: pthread_mutex_lock(&mutex); for (;;) pthread_cond_wait(&condition, &mutex);
        case 4: fgets(text, sizeof text, in); break;
        case 5: sleep(1); break;
        case 6: pause(); break;
        default:
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
            usleep(MOMENT);
            pthread_setcancelstate(state, 0);
            pthread_testcancel();
        }
    }
    pthread_cleanup_pop(0);
    return 0;
}

static void cancelled(void) {
    make_pipe();
    sem_init(&semaphore, 0, 0);
    pthread_key_create(&key, destroy);
    for (long how = 0; how < 8; how++) {
        pthread_t thread = start(wait_for_ever, (void *)how);
        usleep(10 * MOMENT);
        data = 1 + how;
        pthread_cancel(thread);
        finish(thread);
        CHECK(seen == 2 * data);
    }
}

// What is wrong.

static void *print_after(void *unused) {
    data = 1;
    printf("%s\n", "here");
    return unused;
}

// Both threads print between their accesses: in this order, which nothing makes them keep.
static void wrong_printing(void) {
    pthread_t thread = start(print_after, 0);
    usleep(20 * MOMENT);
    printf("%s\n", "there");
    data = 2;
    finish(thread);
}

static void *use_out(void *unused) {
    data = 1;
    fputs("line\n", out);
    fflush(out);
    return unused;
}

static void wrong_stream(void) {
    out = tmpfile();
    in = tmpfile();
    pthread_t thread = start(use_out, 0);
    usleep(20 * MOMENT);
    fputs("line\n", in);
    rewind(in);
    CHECK(fgetc(in) == 'l');
    data = 2;
    finish(thread);
}

static void *use_unlocked(void *unused) {
    data = 1;
    putc_unlocked('x', out);
    return unused;
}

static void wrong_lock(void) {
    out = tmpfile();
    pthread_t thread = start(use_unlocked, 0);
    usleep(20 * MOMENT);
    putc_unlocked('x', out);
    data = 2;
    finish(thread);
}

static void *open_for_reading(void *unused) {
    data = 1;
    close(open("both", O_RDONLY));
    return unused;
}

static void wrong_reading(void) {
    close(open("both", O_CREAT | O_WRONLY, 0600));
    pthread_t thread = start(open_for_reading, 0);
    usleep(20 * MOMENT);
    struct stat about;
    CHECK(stat("both", &about) == 0);
    fclose(fopen("both", "r"));
    data = 2;
    finish(thread);
}

static void *make_one(void *unused) {
    data = 1;
    mkdir("first", 0700);
    return unused;
}

static void wrong_name(void) {
    pthread_t thread = start(make_one, 0);
    usleep(20 * MOMENT);
    mkdir("second", 0700);
    data = 2;
    finish(thread);
}

static void see(void *unused) { seen = data; }

static void *wait_to_see(void *unused) {
    pthread_cleanup_push(see, 0);
    for (;;) usleep(MOMENT);
    pthread_cleanup_pop(0);
    return unused;
}

static void wrong_cancel(void) {
    pthread_t thread = start(wait_to_see, 0);
    usleep(20 * MOMENT);
    pthread_cancel(thread);
    data = 2;
    finish(thread);
}

int main(int count, char **words) {
    static const struct { const char *name; void (*run)(void); } programs[] = {
        {"pipes", pipes}, {"long_message", long_message}, {"standard_output", standard_output}, {"child", child},
        {"position", position}, {"stream_of_cancelled", stream_of_cancelled}, {"names", names}, {"cancelled", cancelled},
        {"wrong_printing", wrong_printing}, {"wrong_stream", wrong_stream}, {"wrong_lock", wrong_lock},
        {"wrong_reading", wrong_reading}, {"wrong_name", wrong_name}, {"wrong_cancel", wrong_cancel},
    };
    for (size_t i = 0; count == 2 && i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(words[1], programs[i].name) == 0) {
            programs[i].run();
            return 0;
        }
    }
    return 2;
}
