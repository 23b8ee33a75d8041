// A relaxed read-modify-write of another thread continues the release sequence; a relaxed store does not.
#include <atomic>
#include <cstdlib>
#include <thread>
static int data;
static std::atomic<int> flag{0};
int main() {
    std::thread writer([] {
        data = 42;
        flag.store(1, std::memory_order_release);
    });
    std::thread passer([] {
        while (flag.load(std::memory_order_relaxed) != 1) std::this_thread::yield();
#ifdef BROKEN
        flag.store(2, std::memory_order_relaxed);
#else
        flag.fetch_add(1, std::memory_order_relaxed);
#endif
    });
    std::thread reader([] {
        while (flag.load(std::memory_order_relaxed) != 2) std::this_thread::yield();
        flag.load(std::memory_order_acquire);
        if (data != 42) std::abort();
    });
    writer.join();
    passer.join();
    reader.join();
}
