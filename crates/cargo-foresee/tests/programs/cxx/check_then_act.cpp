// Check, then act, on a map that is safe for threads: each call is atomic, both together are not. No byte is raced for.
#include "threads.h"
#include <foresee.h>
class Map {
    std::mutex guard;
    struct { bool there; int value; } entries[8] = {};

public:
    bool contains(int key) {
        std::lock_guard<std::mutex> held(guard);
        return entries[key].there;
    } // wrong
    void set(int key, int value) {
        std::lock_guard<std::mutex> held(guard); // wrong
        entries[key] = {true, value};
    } // wrong
    void set_if_absent(int key, int value) {
        std::lock_guard<std::mutex> held(guard);
        if (!entries[key].there) entries[key] = {true, value};
    }
};
static Map cache;
// What another thread has set is not to be replaced.
static void remember(int value) {
    FORESEE_ATOMIC_SCOPE("remember");
#ifdef FIXED
    cache.set_if_absent(1, value);
#else
    if (!cache.contains(1)) cache.set(1, value);
#endif
}
int main() {
    together([] { remember(10); },
             [] {
                 later();
                 cache.set(1, 20);
             });
}
