// Consume is acquire, as in every compiler. Without the store's release, the hand-over has no order.
#include <atomic>
#include <thread>
#include <cstdlib>
struct Node { int value; };
static std::atomic<Node *> head{nullptr};
int main() {
    std::thread writer([] {
        Node *node = new Node;
        node->value = 7;
#ifdef BROKEN
        head.store(node, std::memory_order_relaxed);
#else
        head.store(node, std::memory_order_release);
#endif
    });
    std::thread reader([] {
        Node *node;
        while (!(node = head.load(std::memory_order_consume))) std::this_thread::yield();
        if (node->value != 7) abort();
        node->value++;
    });
    writer.join();
    reader.join();
    delete head.load();
}
