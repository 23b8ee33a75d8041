// Atomics of 16 bytes: every operation, each with a result that is checked, and a message that is passed by one.
#include <pthread.h>
#include <stdbool.h>

typedef unsigned __int128 wide;

#define WIDE(high, low) ((wide)(high) << 64 | (wide)(low))

static wide shared = WIDE(7, 9);
static wide flag;
static int message;

static bool operations(void) {
    bool right = __atomic_load_n(&shared, __ATOMIC_SEQ_CST) == WIDE(7, 9);
    __atomic_store_n(&shared, WIDE(1, 2), __ATOMIC_RELEASE);
    right &= __atomic_exchange_n(&shared, WIDE(3, ~0ull), __ATOMIC_ACQ_REL) == WIDE(1, 2);
    right &= __atomic_fetch_add(&shared, 1, __ATOMIC_ACQ_REL) == WIDE(3, ~0ull);
    right &= __atomic_fetch_sub(&shared, WIDE(1, 0), __ATOMIC_ACQ_REL) == WIDE(4, 0);
    right &= __atomic_fetch_or(&shared, WIDE(4, 5), __ATOMIC_ACQ_REL) == WIDE(3, 0);
    right &= __atomic_fetch_and(&shared, WIDE(6, 4), __ATOMIC_ACQ_REL) == WIDE(7, 5);
    right &= __atomic_fetch_xor(&shared, WIDE(6, 1), __ATOMIC_ACQ_REL) == WIDE(6, 4);
    wide expected = WIDE(8, 8);
    right &= !__atomic_compare_exchange_n(&shared, &expected, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    right &= expected == WIDE(0, 5);
    right &= __atomic_compare_exchange_n(&shared, &expected, WIDE(2, 1), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return right && __atomic_load_n(&shared, __ATOMIC_ACQUIRE) == WIDE(2, 1);
}

static void *writer(void *unused) {
    (void)unused;
    message = 42;
    __atomic_store_n(&flag, WIDE(1, 0), __ATOMIC_RELEASE);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) {
    }
    int got = message;
    pthread_join(thread, 0);
    return operations() && got == 42 ? 0 : 1;
}
