// Two caches of the library's containers under one lock: a race only under another schedule, as they have nothing to do with each other.
#include "threads.h"
#include <list>
#include <map>
#include <string>
#include <unordered_map>
struct Cache {
    std::map<int, std::string> names;
    std::list<std::string> recent;
    std::unordered_map<std::string, int> counts;
    void add(int key) {
        names[key] += "a name that is longer than what fits into it";
        recent.push_back(names.begin()->second);
        counts[recent.back()]++;
        if (recent.size() > 1) recent.pop_front();
    }
};
static std::mutex guard;
static Cache one, other;
int hits;
static void first() {
#ifdef FIXED
    std::lock_guard<std::mutex> held(guard);
    hits = 1;
#else
    hits = 1; // wrong
    std::lock_guard<std::mutex> held(guard);
#endif
    one.add(1);
    one.add(2);
}
static void second() {
    later();
    guard.lock();
    other.add(3);
#ifdef FIXED
    hits = 2;
    guard.unlock();
#else
    guard.unlock();
    hits = 2; // wrong
#endif
}
int main() {
    together(first, second);
    return hits != 2;
}
