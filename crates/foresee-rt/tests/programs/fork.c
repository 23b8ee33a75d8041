#include <sys/wait.h>
#include <unistd.h>
static volatile int x;
int main(void) {
    pid_t child = fork();
    if (child == 0) { for (int i = 0; i < 5000; i++) x = i; _exit(0); }
    for (int i = 0; i < 100; i++) x = i;
    int status;
    waitpid(child, &status, 0);
    return status;
}
