/* The bank of bank.rs, in C: foresee cc -o bank bank.c -lpthread && foresee run -- ./bank */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account checking = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 100};
static long moved; /* some account is locked when it is written: just not always the same */

static void transfer(struct account *from, struct account *to, long amount) {
    pthread_mutex_lock(&from->lock);
    moved += amount;
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *ann(void *unused) {
    transfer(&checking, &savings, 30);
    return unused;
}

static void *bob(void *unused) {
    usleep(100000); /* Bob has his coffee first */
    transfer(&savings, &checking, 20);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, ann, NULL);
    pthread_create(&second, NULL, bob, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("checking %ld, savings %ld, moved %ld\n", checking.balance, savings.balance, moved);
    return 0;
}
