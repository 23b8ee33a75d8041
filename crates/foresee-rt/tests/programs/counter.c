#include <pthread.h>
int counter;
static void *run(void *p) {
    for (int i = 0; i < 100; i++) { counter++; __asm__ volatile("" ::: "memory"); }
    return p;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
