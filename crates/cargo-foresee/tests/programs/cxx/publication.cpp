// Publication without release: who sees the pointer need not see what was written before it was stored.
#include "threads.h"
#include <atomic>
#ifdef FIXED
static const auto order = std::memory_order_release;
#else
static const auto order = std::memory_order_relaxed;
#endif
static std::atomic<int *> place;
static void publish() {
    int *made = new int;
    *made = 7; // wrong
    place.store(made, order);
}
static int seen;
static void use() {
    int *found;
    while (!(found = place.load(std::memory_order_acquire))) std::this_thread::yield();
    seen = *found; // wrong
}
int main() {
    together(publish, use);
    delete place.load();
    return seen != 7;
}
