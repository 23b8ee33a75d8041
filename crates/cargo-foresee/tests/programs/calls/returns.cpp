#include "returns.h"
thread_local long returned;
void (*during)();
// Changes all its arguments before it returns.
extern "C" long numbered(Tree *tree, int depth, unsigned char tag) {
    long result = depth * 1000L + tag;
    if (during) during();
    if (depth > 0) {
        tree->height += (int)numbered(tree, depth - 1, tag + 3);
        if (depth % 3 == 0) {
            try {
                thrower(depth);
            } catch (int) {
                tree->height += (int)numbered(tree, 0, tag + 1);
            }
        }
    }
    tree = nullptr;
    depth = tag = 0;
    returned++;
    return result;
}
extern "C" long stacked(long a, long b, long c, long d, long e, long f, long g, short h) {
    long result = a + g * 100 + h;
    a = b = c = d = e = f = 0;
    returned++;
    return result;
}
Tree *Tree::itself(long key, int depth) {
    Tree *made = this;
    if (depth > 0) made = itself(key + 1, depth - 1);
    if (key < 0) throw 2;
    key = depth = 0;
    returned++;
    return made;
}
void quiet(Tree &tree, long key) {
    tree.height = (int)key;
    key = 0;
    returned++;
}
void thrower(int depth) {
    Tree tree{0};
    if (depth == 0) {
        numbered(&tree, 0, 9);
        throw 1;
    }
    tree.itself(depth, 0);
    thrower(depth - 1);
    returned += 1000000;
}
void jumper(jmp_buf *to, int depth) {
    if (depth == 0) longjmp(*to, 1);
    jumper(to, depth - 1);
    returned += 1000000;
}
