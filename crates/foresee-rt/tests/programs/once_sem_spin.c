#include <pthread.h>
#include <semaphore.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t full, empty;
static pthread_spinlock_t spin;
static int table[10], slot, total;
static void fill(void) { for (int i = 0; i < 10; i++) table[i] = i; }
static void *consume(void *p) {
    pthread_once(&once, fill);
    for (int i = 0; i < 50; i++) {
        sem_wait(&full);
        int value = slot;
        sem_post(&empty);
        pthread_spin_lock(&spin);
        total += value + table[value % 10];
        pthread_spin_unlock(&spin);
    }
    return p;
}
int main(void) {
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    pthread_spin_init(&spin, 0);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, consume, 0);
    pthread_once(&once, fill);
    for (int i = 0; i < 150; i++) {
        sem_wait(&empty);
        slot = table[i % 10];
        sem_post(&full);
    }
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return total != 2 * 15 * 45;
}
