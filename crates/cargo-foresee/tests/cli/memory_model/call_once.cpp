// What is done once is seen by all, also if the first attempt throws; or only a flag says that it is done.
#include <mutex>
#include <thread>
#include <cstdlib>
static std::once_flag once;
static int *value, attempts, tries;
static int lazily() {
    if (tries++ == 0) throw 2;
    return tries;
}
static void initialise() {
    if (attempts++ == 0) throw 1;
    value = new int(5);
}
static void use() {
#ifdef BROKEN
    static volatile bool done;
    if (!done) { value = new int(5); done = true; }
#else
    for (;;) {
        try {
            std::call_once(once, initialise);
            static const int made = lazily();
            if (made != 2) abort();
            break;
        } catch (int) {}
    }
#endif
    static const int copy = *value;
    if (copy != 5 || *value != 5) abort();
}
int main() {
    std::thread a(use), b(use), c(use);
    a.join();
    b.join();
    c.join();
}
