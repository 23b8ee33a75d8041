// Files: threads hand over by their names, and by what is known of them.
#include "programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <wchar.h>

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
    case 6: {
        // The other tries whether it may make a folder of this name, and takes it away again.
        FILE *made;
        while (!(made = fopen("new", "w"))) CHECK(errno == EISDIR);
        CHECK(fclose(made) == 0);
        break;
    }
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

// What is known of files and of the process: the one changes it, the other asks until it is so.

static int file;
static FILE *unbuffered, *wide;

static void *change(void *how) {
    usleep(MOMENT);
    data = 1 + (long)how;
    switch ((long)how) {
    case 0: CHECK(write(file, "12345", 5) == 5); break;
    case 1: CHECK(ftruncate(file, 77) == 0); break;
    case 2: CHECK(lseek(file, 7, SEEK_SET) == 7); break;
    case 3: CHECK(fchmod(file, 0640) == 0); break;
    case 4: CHECK(fcntl(file, F_SETFL, O_NONBLOCK) == 0); break;
    case 5: CHECK(fwprintf(unbuffered, L"number %d\n", 12) > 0); break;
    default: CHECK(chdir("/") == 0); break;
    }
    return 0;
}

static int is_changed(long how) {
    struct stat about;
    char path[1000];
    wchar_t word[10];
    int number;
    switch (how) {
    case 0: return stat("states", &about) == 0 && about.st_size == 5;
    case 1: return fstat(file, &about) == 0 && about.st_size == 77;
    case 2: return lseek(file, 0, SEEK_CUR) == 7;
    case 3: return fstat(file, &about) == 0 && (about.st_mode & 0777) == 0640;
    case 4: return fcntl(file, F_GETFL) & O_NONBLOCK;
    case 5: return fwscanf(wide, L"%9ls %d", word, &number) == 2 && number == 12;
    default: return strcmp(getcwd(path, sizeof path), "/") == 0;
    }
}

static void states(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    wide = fdopen(ends[0], "r");
    unbuffered = fdopen(ends[1], "w");
    setvbuf(unbuffered, 0, _IONBF, 0);
    file = open("states", O_CREAT | O_TRUNC | O_RDWR, 0600);
    CHECK(file >= 0 && fchmod(file, 0600) == 0);
    for (long how = 0; how < 7; how++) {
        pthread_t thread = start(change, (void *)how);
        while (!is_changed(how)) usleep(MOMENT);
        CHECK(data == 1 + how);
        finish(thread);
        if (how == 1) unlink("states");
    }
}

// What is wrong.

static void *open_for_reading(void *unused) {
    data = 1;
    close(open("both", O_RDONLY));
    return unused;
}

static void wrong_reading(void) {
    close(open("both", O_CREAT | O_WRONLY, 0600));
    pthread_t thread = start(open_for_reading, 0);
    usleep(WHILE_OTHERS_RUN);
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
    usleep(WHILE_OTHERS_RUN);
    mkdir("second", 0700);
    data = 2;
    finish(thread);
}

int main(int count, char **words) {
    static const struct Program programs[] = {
        {"names", names},
        {"states", states},
        {"wrong_reading", wrong_reading},
        {"wrong_name", wrong_name},
        {0, 0},
    };
    return run(count, words, programs);
}
