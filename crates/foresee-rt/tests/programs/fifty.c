#define _GNU_SOURCE
#include <pthread.h>
static int cells[50];
static void *run(void *p) {
    pthread_setname_np(pthread_self(), "worker");
    for (int i = 0; i < 100; i++) ((volatile int *)cells)[(long)p]++;
    return 0;
}
int main(void) {
    pthread_t t[50];
    for (long i = 0; i < 50; i++) pthread_create(&t[i], 0, run, (void *)i);
    int sum = 0;
    for (int i = 0; i < 50; i++) { pthread_join(t[i], 0); sum += cells[i]; }
    return sum != 5000;
}
