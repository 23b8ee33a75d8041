// Double-checked locking: the first look at the pointer is not ordered with anything, so neither is what it points to.
#include "threads.h"
#include <atomic>
struct Settings { int size; };
#ifdef FIXED
static std::atomic<Settings *> settings;
static Settings *look() { return settings.load(std::memory_order_acquire); }
static void publish(Settings *made) { settings.store(made, std::memory_order_release); }
#else
static Settings *settings;
static Settings *look() { return settings; } // wrong
static void publish(Settings *made) { settings = made; } // wrong
#endif
static std::mutex guard;
static Settings *get() {
    Settings *seen = look();
    if (!seen) {
        std::lock_guard<std::mutex> held(guard);
        seen = look();
        if (!seen) {
            seen = new Settings;
            seen->size = 7; // wrong
            publish(seen);
        }
    }
    return seen;
}
static int sizes[2];
int main() {
    together([] { sizes[0] = get()->size; },
             [] {
                 later();
                 sizes[1] = get()->size; // wrong
             });
    delete look();
    return sizes[0] + sizes[1] != 14;
}
