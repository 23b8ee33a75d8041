// A condition variable misused: what the waiting thread waits for is set without the mutex that it looks under.
#include "threads.h"
#include <condition_variable>
static std::mutex guard;
static std::condition_variable changed;
static bool ready;
static void wait() {
    std::unique_lock<std::mutex> held(guard);
    // As the notify may come between looking and waiting, only for a while.
    while (!ready) changed.wait_for(held, std::chrono::milliseconds(10)); // wrong
}
static void set() {
    later();
#ifdef FIXED
    std::lock_guard<std::mutex> held(guard);
#endif
    ready = true; // wrong
    changed.notify_one();
}
int main() { together(wait, set); }
