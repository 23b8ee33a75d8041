#define _GNU_SOURCE
#include "breaks.h"
#include <dirent.h>
#include <mntent.h>
#include <wchar.h>

static void files(void) {
    char line[16];
    FILE *file = tmpfile();
    check(file != NULL);
    if (breaks("BufferSetLate")) fputs("early\n", file);
    setvbuf(file, NULL, _IOFBF, 4096);
    fputs("text\n", file);
    if (!breaks("ReadAfterWrite")) rewind(file);
    (void)!fgets(line, sizeof line, file);
    if (breaks("StreamLeftOpen")) return;
    if (breaks("FileClosedAsPipe"))
        pclose(file);
    else
        fclose(file);
    if (breaks("StreamUsedAfterClose")) fputs("late\n", file);
    if (breaks("StreamClosedTwice")) fclose(file);
}

static void pipes(void) {
    FILE *pipe = popen("true", "r");
    check(pipe != NULL);
    if (breaks("PipeClosedAsFile"))
        fclose(pipe);
    else
        pclose(pipe);
}

static void directories(void) {
    DIR *directory = opendir("/");
    check(directory != NULL && readdir(directory) != NULL);
    closedir(directory);
    if (breaks("DirectoryUsedAfterClose")) readdir(directory);
}

/* Streams that get the place of one that was closed. */
static void others(void) {
    char line[256];
    wchar_t *text;
    size_t len;
    FILE *file = fopen("/dev/null", "r");
    fclose(file);
    FILE *mounts = setmntent("/proc/mounts", "r");
    check(mounts != NULL && fgets(line, sizeof line, mounts) != NULL);
    endmntent(mounts);
    FILE *memory = open_wmemstream(&text, &len);
    check(memory != NULL);
    fputws(L"text", memory);
    fflush(memory);
    fclose(memory);
    free(text);
    FILE *both = tmpfile();
    fputs("text", both);
    fflush_unlocked(both);
    (void)!fgets(line, sizeof line, both);
    fclose(both);
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    pipes();
    directories();
    others();
    files();
    /* Standard streams are closed by nobody, and all may be flushed. */
    check(freopen("/dev/null", "w", stdout) != NULL);
    puts("text");
    fflush(NULL);
    return 0;
}
