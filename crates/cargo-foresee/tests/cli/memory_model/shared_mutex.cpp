// Readers together, a writer alone; or a writer that only has a reader's lock.
#include <shared_mutex>
#include <mutex>
#include <thread>
#include <cstdlib>
static std::shared_mutex guard;
static int value;
static void change() {
    for (int i = 0; i < 30; i++) {
#ifdef BROKEN
        std::shared_lock<std::shared_mutex> held(guard);
#else
        std::unique_lock<std::shared_mutex> held(guard);
#endif
        value++;
    }
}
static void look() {
    for (int i = 0; i < 30; i++) {
        std::shared_lock<std::shared_mutex> held(guard, std::try_to_lock);
        if (held && value < 0) abort();
    }
}
int main() {
    std::thread a(change), b(change), c(look), d(look);
    a.join();
    b.join();
    c.join();
    d.join();
}
