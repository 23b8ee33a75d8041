// Lock order: each thread changes a container of its own while it has the first lock and wants the second.
#include "threads.h"
#include <list>
#include <map>
#include <string>
struct Store {
    std::mutex guard;
    std::map<int, std::string> entries;
    std::list<std::string> log;
};
static Store one, other;
static void copy(Store &from, Store &to) {
    std::lock_guard<std::mutex> outer(from.guard);
    from.entries[7] = "an entry";
    from.log.push_back(from.entries[7]);
    std::lock_guard<std::mutex> inner(to.guard); // wrong
}
int main() {
    together([] { copy(one, other); },
             [] {
                 later();
#ifdef FIXED
                 copy(one, other);
#else
                 copy(other, one);
#endif
             });
}
