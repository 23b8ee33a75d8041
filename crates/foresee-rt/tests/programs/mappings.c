// Threads map and unmap memory without a word to each other: the kernel gives the same pages to all in turn.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
static int failed;
static void *work(void *unused) {
    for (int i = 0; i < 200; i++) {
        int *at = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return &failed;
        at[i] = i;
        at = mremap(at, 8192, 16384, MREMAP_MAYMOVE);
        if (at == MAP_FAILED || at[i] != i) return &failed;
        at[i + 2000]++;
        munmap(at, 16384);
    }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    void *result;
    int bad = 0;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) { pthread_join(threads[i], &result); bad |= result != 0; }
    char *huge = mmap(0, 1ul << 36, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (huge == MAP_FAILED) return 2;
    huge[1ul << 33] = 1;
    munmap(huge, 1ul << 36);
    return bad;
}
