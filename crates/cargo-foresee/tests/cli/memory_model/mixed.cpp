// Initialised before it is shared, by plain stores, as `atomic_init` does; or initialised again while it is shared.
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
struct Shared { std::atomic<int> state; int plain; };
static std::atomic<Shared *> shared{nullptr};
int main() {
    auto *memory = static_cast<Shared *>(malloc(sizeof(Shared)));
    std::thread user([] {
        Shared *s;
        while (!(s = shared.load(std::memory_order_acquire))) std::this_thread::yield();
        while (s->state.load(std::memory_order_acquire) != 2) std::this_thread::yield();
        if (s->plain != 9) abort();
    });
    new (memory) Shared{{1}, 8};
    shared.store(memory, std::memory_order_release);
    memory->plain = 9;
#ifdef BROKEN
    *reinterpret_cast<volatile int *>(&memory->state) = 2;
#else
    memory->state.store(2, std::memory_order_release);
#endif
    user.join();
    free(memory);
}
