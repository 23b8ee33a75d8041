// A sequence lock as the model has it: its data are relaxed atomics. With plain data it is a race, however well it works.
#include <atomic>
#include <thread>
#include <cstdlib>
#ifdef BROKEN
static long left, right;
#define GET(x) x
#define PUT(x, value) x = value
#else
static std::atomic<long> left{0}, right{0};
#define GET(x) x.load(std::memory_order_relaxed)
#define PUT(x, value) x.store(value, std::memory_order_relaxed)
#endif
static std::atomic<unsigned> version{0};
static void write(long value) {
    unsigned v = version.load(std::memory_order_relaxed);
    version.store(v + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    PUT(left, value);
    PUT(right, -value);
    version.store(v + 2, std::memory_order_release);
}
static long read() {
    for (;;) {
        unsigned before = version.load(std::memory_order_acquire);
        long l = GET(left), r = GET(right);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) return l + r;
        std::this_thread::yield();
    }
}
static std::atomic<bool> begun{false};
int main() {
    std::thread writer([] {
        while (!begun.load(std::memory_order_relaxed)) std::this_thread::yield();
        for (int i = 0; i < 50; i++) write(i);
    });
    std::thread reader([] {
        for (int i = 0; i < 50; i++) {
            if (read() != 0) abort();
            begun.store(true, std::memory_order_relaxed);
        }
    });
    writer.join();
    reader.join();
}
