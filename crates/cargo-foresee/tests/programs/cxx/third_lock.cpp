// Lock order through a third lock: no two threads take the same two locks, and yet all three can wait for each other.
#include "threads.h"
static std::mutex accounts, log, audit;
static long steps;
static void both(std::mutex &first, std::mutex &second) {
    std::lock_guard<std::mutex> outer(first);
    std::lock_guard<std::mutex> inner(second); // wrong
}
int main() {
    together([] { both(accounts, log); },
             [] {
                 later();
                 both(log, audit);
             },
             [] {
                 later();
                 later();
#ifdef FIXED
                 both(accounts, audit);
#else
                 both(audit, accounts);
#endif
             });
    return steps != 0;
}
