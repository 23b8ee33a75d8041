// A lock of a flag, and waiting for a flag.
#include <atomic>
#include <thread>
#include <cstdlib>
static std::atomic_flag taken = ATOMIC_FLAG_INIT, ready = ATOMIC_FLAG_INIT;
static int counter;
static void work() {
    ready.wait(false, std::memory_order_acquire);
    for (int i = 0; i < 50; i++) {
#ifndef BROKEN
        while (taken.test_and_set(std::memory_order_acquire)) taken.wait(true, std::memory_order_relaxed);
#endif
        counter++;
#ifndef BROKEN
        taken.clear(std::memory_order_release);
        taken.notify_one();
#endif
    }
}
int main() {
    std::thread a(work), b(work);
    counter = 1;
    ready.test_and_set(std::memory_order_release);
    ready.notify_all();
    a.join();
    b.join();
    return counter > 101;
}
