// A cursor makes no step after its end; with LATE one does. Exceptions pass functions that are recorded.
#include "cursor.h"
#include <thread>
static void work(int n) {
    for (int i = 0; i < 10; i++) {
        store::Cursor *cursor = store::begin(i);
        cursor->step(n);
        if (!cursor->done()) cursor->step(2);
        store::guarded(*cursor);
#ifdef LATE
        if (i == 9) cursor->step(1);
#endif
        delete cursor;
    }
    store::Cursor below{-5};
    try {
        store::guarded(below);
    } catch (int) {
    }
}
int main() {
    std::thread a(work, 1), b(work, 2);
    a.join();
    b.join();
}
