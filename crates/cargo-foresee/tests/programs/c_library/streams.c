// Streams: their locks, and the pipes, files and children behind them.
#include "programs.h"

#include <wchar.h>

static int ends[2];
static FILE *in, *out;

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

// What is wrong.

static void *print_after(void *unused) {
    data = 1;
    printf("%s\n", "here");
    return unused;
}

// Both threads print between their accesses: in this order, which nothing makes them keep.
static void wrong_printing(void) {
    pthread_t thread = start(print_after, 0);
    usleep(WHILE_OTHERS_RUN);
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
    usleep(WHILE_OTHERS_RUN);
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
    usleep(WHILE_OTHERS_RUN);
    putc_unlocked('x', out);
    data = 2;
    finish(thread);
}

int main(int count, char **words) {
    static const struct Program programs[] = {
        {"pipes", pipes},
        {"long_message", long_message},
        {"standard_output", standard_output},
        {"child", child},
        {"position", position},
        {"stream_of_cancelled", stream_of_cancelled},
        {"wrong_printing", wrong_printing},
        {"wrong_stream", wrong_stream},
        {"wrong_lock", wrong_lock},
        {0, 0},
    };
    return run(count, words, programs);
}
