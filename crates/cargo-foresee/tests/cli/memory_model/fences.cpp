// Fences of every order on both sides of relaxed operations; without the reader's, there is no edge.
#include <atomic>
#include <thread>
#include <cstdlib>
using namespace std;
static int passed[4];
static atomic<int> flag[4];
static void put(int i, memory_order order) {
    passed[i] = i + 1;
    atomic_thread_fence(order);
    flag[i].store(1, memory_order_relaxed);
}
static void get(int i, memory_order order) {
    while (!flag[i].load(memory_order_relaxed)) this_thread::yield();
#ifdef BROKEN
    atomic_thread_fence(memory_order_release);
    (void)order;
#else
    atomic_thread_fence(order);
#endif
    if (passed[i] != i + 1) abort();
}
int main() {
    thread writer([] {
        put(0, memory_order_release);
        put(1, memory_order_acq_rel);
        put(2, memory_order_seq_cst);
        put(3, memory_order_release);
    });
    thread reader([] {
        get(0, memory_order_acquire);
        get(1, memory_order_seq_cst);
        get(2, memory_order_acq_rel);
        get(3, memory_order_consume);
    });
    writer.join();
    reader.join();
}
