#include "breaks.h"
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

/* Has something done when the container that it is in is cleared. */
struct Guest {
    void (*leaves)() = nullptr;
    Guest() = default;
    explicit Guest(void (*leaves)()) : leaves(leaves) {}
    Guest(Guest &&other) : leaves(other.leaves) { other.leaves = nullptr; }
    Guest &operator=(Guest &&other) {
        leaves = other.leaves;
        other.leaves = nullptr;
        return *this;
    }
    ~Guest() {
        if (leaves) leaves();
    }
};

static std::vector<Guest> row;
static std::deque<Guest> queue;
static std::map<int, Guest> sorted;
static std::unordered_map<int, Guest> hashed;

static void change_row() {
    if (breaks("VectorChangedWhileCleared")) row.pop_back();
}

static void change_queue() {
    if (breaks("DequeChangedWhileCleared")) queue.emplace_front();
}

static void change_sorted() {
    if (breaks("MapChangedWhileCleared")) sorted.erase(7);
}

static void change_hashed() {
    if (breaks("HashMapChangedWhileCleared")) hashed.reserve(1);
}

int main(int count, char **words) {
    if (count > 1) told = words[1];
    for (int round = 0; round < 2; round++) {
        row.reserve(4);
        row.push_back(Guest(change_row));
        row.emplace_back();
        queue.push_back(Guest(change_queue));
        sorted.emplace(round, Guest(change_sorted));
        hashed.emplace(round, Guest(change_hashed));
        std::vector<int> numbers(3);
        numbers.push_back(round);
        numbers.clear();
        row.clear();
        queue.clear();
        sorted.clear();
        hashed.clear();
    }
    /* What was changed while it was cleared is not destroyed. */
    _Exit(0);
}
