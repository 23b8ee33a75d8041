// Calls that return in all ways, each with a result that says what it was called with.
#include <setjmp.h>
struct Tree {
    int height;
    Tree *itself(long key, int depth);
};
extern "C" long numbered(Tree *tree, int depth, unsigned char tag);
extern "C" long stacked(long a, long b, long c, long d, long e, long f, long g, short h);
void quiet(Tree &tree, long key);
void thrower(int depth);
void jumper(jmp_buf *to, int depth);
extern thread_local long returned;
extern void (*during)();
