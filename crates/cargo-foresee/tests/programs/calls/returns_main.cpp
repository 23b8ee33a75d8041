// Returns at all depths, from several threads, past exceptions and jumps, and on stacks of coroutines that change places in the middle of calls.
#include "returns.h"
#include <atomic>
#include <cstdio>
#include <thread>
#include <ucontext.h>
#include <vector>
static std::atomic<long> total;
static void work(int n) {
    Tree tree{n};
    for (int i = 0; i < 8; i++) {
        numbered(&tree, i, (unsigned char)(n * 40 + i));
        stacked(i, 1, 2, 3, 4, 5, n, (short)-i);
        tree.itself(i, i % 3);
        try {
            tree.itself(-3, 4);
        } catch (int) {
        }
        quiet(tree, i);
        jmp_buf here;
        if (setjmp(here) == 0) jumper(&here, i);
        numbered(&tree, 0, (unsigned char)i);
    }
    total += returned;
}
static ucontext_t contexts[2], outside;
static int now;
static void change_places() {
    now = 1 - now;
    swapcontext(&contexts[1 - now], &contexts[now]);
}
static void coroutine(int n) {
    Tree tree{n};
    for (int i = 0; i < 5; i++) numbered(&tree, 3, (unsigned char)(n * 100 + i));
    total += returned;
    returned = 0;
    during = nullptr;
    setcontext(n == 0 ? &contexts[1] : &outside);
}
int main() {
    std::thread a(work, 1), b(work, 2);
    a.join();
    b.join();
    std::vector<char> stacks[2] = {std::vector<char>(1 << 18), std::vector<char>(1 << 18)};
    for (int n = 0; n < 2; n++) {
        getcontext(&contexts[n]);
        contexts[n].uc_stack.ss_sp = stacks[n].data();
        contexts[n].uc_stack.ss_size = stacks[n].size();
        makecontext(&contexts[n], (void (*)())coroutine, 1, n);
    }
    during = change_places;
    swapcontext(&outside, &contexts[0]);
    std::printf("returned %ld\n", total.load());
}
