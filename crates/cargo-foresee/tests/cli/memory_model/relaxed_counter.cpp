// A counter needs no order; what is published by it does.
#include <atomic>
#include <thread>
#include <cstdlib>
static std::atomic<int> counter{0};
static int plain;
int main() {
    auto count = [] {
        for (int i = 0; i < 100; i++) {
            counter.fetch_add(1, std::memory_order_relaxed);
#ifdef BROKEN
            if (counter.load(std::memory_order_relaxed) > 0) plain++;
#endif
        }
    };
    std::thread a(count), b(count);
    a.join();
    b.join();
    plain++;
    if (counter.load(std::memory_order_relaxed) != 200) abort();
}
