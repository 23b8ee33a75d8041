// A plain variable that is atomic while threads share it, and plain before and after; or one thread forgets to.
#include <atomic>
#include <thread>
#include <cstdlib>
static int counter, data;
int main() {
    counter = 5;
    std::thread adder([] {
        data = 3;
        for (int i = 0; i < 50; i++) std::atomic_ref<int>(counter).fetch_add(1, std::memory_order_release);
    });
    std::thread other([] {
#ifdef BROKEN
        for (int i = 0; i < 50; i++) counter++;
#else
        while (std::atomic_ref<int>(counter).load(std::memory_order_acquire) < 55) std::this_thread::yield();
        if (data != 3) abort();
#endif
    });
    adder.join();
    other.join();
    counter++;
}
