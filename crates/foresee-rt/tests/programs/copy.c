#include <pthread.h>
#include <string.h>
char shared[4096], mine[4096];
static void *run(void *p) { memcpy(shared, mine, strlen(mine) + 1000); return p; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    memset(shared, 1, strlen(mine) + 2000);
    pthread_join(t, 0);
    return 0;
}
