#include "cursor.h"
namespace store {
void Cursor::step(int by) { at += by; }
bool Cursor::done() const { return at > 10; }
void Cursor::end() {
    if (at < 0) throw 1;
    at = 11;
}
Cursor *begin(long key) { return new Cursor{key}; }
int guarded(Cursor &cursor) {
    cursor.end();
    return 1;
}
}
