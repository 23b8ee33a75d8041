// Threads that record more than fits into their homes, before and after the process forks, and descriptors that are closed meanwhile.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int values[5][64];

static void *fill(void *of) {
    volatile int *mine = of;
    for (int i = 0; i < 80000; i++)
        mine[i % 64] = i;
    return 0;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, fill, values[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    closefrom(3);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    pid_t child = fork();
    if (child == 0) {
        pthread_create(&threads[0], 0, fill, values[4]);
        pthread_join(threads[0], 0);
        return 0;
    }
    int status = 1;
    waitpid(child, &status, 0);
    pthread_create(&threads[0], 0, fill, values[0]);
    pthread_join(threads[0], 0);
    return status;
}
