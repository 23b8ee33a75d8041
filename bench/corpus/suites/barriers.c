// What the tests' `test.h` declares and ThreadSanitizer's runtime has: barriers that bring threads into an order, but are no
// synchronisation to the tool. Not instrumented.
#include <unistd.h>

// How many threads meet, and how many have come so far.
typedef unsigned barrier_t;
enum { COUNT_SHIFT = 16, COME = (1 << COUNT_SHIFT) - 1 };

void __tsan_testonly_barrier_init(barrier_t *barrier, unsigned count) {
  __atomic_store_n(barrier, count << COUNT_SHIFT, __ATOMIC_SEQ_CST);
}

void __tsan_testonly_barrier_wait(barrier_t *barrier) {
  unsigned before = __atomic_fetch_add(barrier, 1, __ATOMIC_SEQ_CST);
  unsigned count = before >> COUNT_SHIFT;
  unsigned round = (before & COME) / count;
  while ((__atomic_load_n(barrier, __ATOMIC_SEQ_CST) & COME) / count == round) {
    usleep(50);
  }
}

unsigned long __tsan_testonly_shadow_stack_current_size(void) { return 0; }
