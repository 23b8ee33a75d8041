// An unsynchronised counter.
#include "threads.h"
static long counter;
#ifdef FIXED
static std::mutex guard;
#endif
static void count() {
#ifdef FIXED
    std::lock_guard<std::mutex> held(guard);
#endif
    counter++; // wrong
}
int main() {
    together(count, count);
    return counter > 2;
}
