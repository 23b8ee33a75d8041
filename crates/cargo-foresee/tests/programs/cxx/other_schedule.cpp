// A race only under another schedule: in the run that is seen, the lock happens to be taken first by the thread that wrote.
#include "threads.h"
static std::mutex guard;
int result;
bool told;
static void work() {
#ifdef FIXED
    std::lock_guard<std::mutex> held(guard);
    result = 7;
#else
    result = 7; // wrong
    std::lock_guard<std::mutex> held(guard);
#endif
    told = true;
}
static int seen;
static void look() {
    later();
    guard.lock();
    told = false;
#ifdef FIXED
    seen = result;
    guard.unlock();
#else
    guard.unlock();
    seen = result; // wrong
#endif
}
int main() {
    together(work, look);
    return seen > 7;
}
