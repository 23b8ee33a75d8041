/* AtomicBlock: the paper's bank. calc_balance and transfer, each meant to be atomic, in two orders: with `kept` the sum is that from before the transfer,
 * with `broken` it has seen one half of it. */
#include <foresee.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int is_kept;
static long checking = 100, saving = 100, balance;

static void *calc_balance(void *unused) {
    usleep(is_kept ? 0 : 100000);
    FORESEE_LOCAL(atomic, 1);
    long first = checking;
    usleep(is_kept ? 200000 : 0);
    balance = first + saving;
    FORESEE_LOCAL(atomic, 0);
    return unused;
}

static void *transfer(void *unused) {
    usleep(is_kept ? 100000 : 0);
    FORESEE_LOCAL(atomic, 1);
    checking = checking - 30;
    usleep(200000);
    saving = saving + 30;
    FORESEE_LOCAL(atomic, 0);
    return unused;
}

int main(int argc, char **argv) {
    is_kept = argc > 1 && !strcmp(argv[1], "kept");
    pthread_t one, other;
    pthread_create(&one, NULL, calc_balance, NULL);
    pthread_create(&other, NULL, transfer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return balance != (is_kept ? 200 : 170);
}
