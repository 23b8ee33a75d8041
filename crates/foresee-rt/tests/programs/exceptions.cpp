// Exceptions leave functions, and give locks back on their way.
#include <mutex>
#include <stdexcept>
#include <thread>
static std::mutex guard;
static int counter, caught;
__attribute__((noinline)) static void deep(int n) {
    std::lock_guard<std::mutex> held(guard);
    counter++;
    if (n == 0) throw std::runtime_error("bottom");
}
__attribute__((noinline)) static void call(int n) {
    deep(n);
}
static void work() {
    for (int i = 0; i < 20; i++) {
        try {
            call(i % 2);
        } catch (const std::exception &) {
            std::lock_guard<std::mutex> held(guard);
            caught++;
        }
    }
}
int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
    return counter != 40 || caught != 20;
}
