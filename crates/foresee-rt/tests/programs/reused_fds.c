// Descriptors are closed by system calls, which nobody sees; a pipe gets their numbers, and hands data over.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
static int data, ends[2];
static void *give(void *unused) {
    data = 7;
    if (write(ends[1], "x", 1) != 1) abort();
    return unused;
}
static void hand_over(void) {
    pthread_t thread;
    char byte;
    pthread_create(&thread, 0, give, 0);
    if (read(ends[0], &byte, 1) != 1 || data != 7) abort();
    data = 0;
    pthread_join(thread, 0);
}
static void use_and_close(int fd) {
    if (write(fd, "x", 1) != 1) abort();
    syscall(SYS_close, fd);
}
int main(void) {
    // Two files of different kinds, so that the ends of the pipe would belong to different ones.
    int file = open("/dev/null", O_WRONLY), pair[2];
    if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
    use_and_close(file);
    use_and_close(pair[0]);
    if (pipe(ends) || ends[0] != file || ends[1] != pair[0]) abort();
    hand_over();
    return 0;
}
