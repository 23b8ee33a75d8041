// An iterator in another thread, while the container grows: the memory that it goes over is copied and freed.
#include "threads.h"
#include <vector>
static std::vector<int> items{1, 2, 3};
static std::mutex guard;
static long sum;
static void add_up(std::vector<int>::iterator from, long count) {
#ifdef FIXED
    std::lock_guard<std::mutex> held(guard);
    from = items.begin();
#endif
    for (; count > 0; count--) sum += *from++; // wrong
}
static void grow() {
    later();
#ifdef FIXED
    std::lock_guard<std::mutex> held(guard);
#endif
    items.push_back(4); // wrong
}
int main() {
    together([from = items.begin()] { add_up(from, 3); }, grow);
    return sum != 6;
}
