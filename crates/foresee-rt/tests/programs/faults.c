// Atomic operations on memory that is not there: the handler of the fault jumps, and the next one is no worse.
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
static sigjmp_buf back;
static volatile int faults;
atomic_long *nowhere;
static void handle(int signal) {
    (void)signal;
    faults++;
    siglongjmp(back, 1);
}
int main(void) {
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGSEGV, &action, 0);
    nowhere = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (volatile int i = 0; i < 10; i++)
        if (sigsetjmp(back, 1) == 0) atomic_fetch_add(nowhere, 1);
    mprotect((void *)nowhere, 4096, PROT_READ | PROT_WRITE);
    atomic_fetch_add(nowhere, 1);
    return !(faults == 10 && atomic_load(nowhere) == 1);
}
