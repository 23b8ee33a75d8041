#include "breaks.h"
#include <dirent.h>

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
    if (breaks("DirectoryLeftOpen")) return;
    closedir(directory);
    if (breaks("DirectoryUsedAfterClose")) readdir(directory);
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    pipes();
    directories();
    files();
    return 0;
}
