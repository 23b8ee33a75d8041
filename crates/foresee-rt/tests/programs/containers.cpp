// Containers do what they do without us, whatever is done to them, and threads that share them under a lock are ordered by it.
#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
#define CHECK(good) do { if (!(good)) abort(); } while (0)

// Red-black trees: as many black nodes on every way, no red below red; and all links.
static int black_height(const std::_Rb_tree_node_base *node, const std::_Rb_tree_node_base *parent) {
    if (!node) return 0;
    CHECK(node->_M_parent == parent);
    if (node->_M_color == std::_S_red)
        for (auto *child : {node->_M_left, node->_M_right}) CHECK(!child || child->_M_color == std::_S_black);
    int left = black_height(node->_M_left, node), right = black_height(node->_M_right, node);
    CHECK(left == right);
    return left + (node->_M_color == std::_S_black);
}
static void check_tree(const std::set<int> &set) {
    const std::_Rb_tree_node_base *header = set.end()._M_node, *root = header->_M_parent;
    CHECK(!root || root->_M_color == std::_S_black);
    black_height(root, header);
    CHECK(set.empty() ? header->_M_left == header && header->_M_right == header : *set.begin() <= *set.rbegin());
}
static void trees(unsigned seed, int range) {
    std::set<int> set;
    std::vector<bool> there(range);
    for (int i = 0; i < 20 * range; i++) {
        int value = (seed = seed * 1103515245 + 12345) / 65536 % range;
        if (seed >> 31 ? there[value] : !there[value]) {
            if (there[value]) set.erase(value); else set.insert(value);
            there[value] = !there[value];
        }
        if (i % 7 == 0) check_tree(set);
    }
    std::vector<int> expected, forward(set.begin(), set.end()), backward(set.rbegin(), set.rend());
    for (int i = 0; i < range; i++) if (there[i]) expected.push_back(i);
    CHECK(forward == expected);
    std::reverse(backward.begin(), backward.end());
    CHECK(backward == expected);
    while (!set.empty()) { set.erase(set.begin()); check_tree(set); }
}
static void lists() {
    std::list<int> one = {1, 2, 3, 4, 5}, other = {6, 7};
    one.reverse();
    one.splice(std::next(one.begin()), other);
    one.splice(one.begin(), one, std::prev(one.end()));
    one.splice(one.end(), one, one.begin(), std::next(one.begin(), 2));
    one.remove(4);
    one.sort();
    CHECK((one == std::list<int>{1, 2, 3, 5, 6, 7}) && other.empty());
    std::list<int> none;
    none.reverse();
    none.splice(none.begin(), one);
    CHECK(none.size() == 6 && none.back() == 7 && *std::prev(none.end(), 6) == 1);
}
static void texts() {
    std::string text, copy;
    for (int i = 0; i < 100; i++) {
        text += std::to_string(i);
        text.push_back(',');
        copy = text;
        CHECK(copy.find(std::to_string(i)) != std::string::npos && copy == text && copy != "x");
    }
    CHECK(text.size() == 290 && text.find(",50,") == 139 && text.find('x') == std::string::npos && text.find(',', 5) == 5);
    text.replace(0, 10, "short");
    text.erase(3, 200);
    text.insert(1, 40, 'y');
    text.assign("again");
    text.reserve(1000);
    text.resize(8, 'z');
    CHECK(text == "againzzz" && text.compare("againzz") > 0 && text.substr(2, 3) == "ain");
    std::unordered_map<std::string, int> counts;
    for (int i = 0; i < 1000; i++) counts[std::to_string(i % 100)]++;
    counts.reserve(1000);
    CHECK(counts.size() == 100 && counts["7"] == 10);
}
static std::mutex guard;
static std::map<int, std::string> shared_map;
static std::list<std::string> shared_list;
static std::unordered_map<int, int> shared_table;
static void share(int first) {
    for (int i = 0; i < 50; i++) {
        std::lock_guard<std::mutex> hold(guard);
        shared_map[first + 2 * i] += "text that is longer than what fits";
        shared_list.push_back(shared_map.begin()->second);
        shared_table[first + i]++;
        if (i % 3 == 0) shared_map.erase(shared_map.begin());
        if (i % 4 == 0) shared_list.pop_front();
        for (auto &entry : shared_map) CHECK(!entry.second.empty());
    }
}
int main() {
    for (int range : {1, 2, 3, 5, 10, 60}) trees(range * 7919, range);
    lists();
    texts();
    std::thread one(share, 0), other(share, 1);
    one.join();
    other.join();
    CHECK(shared_list.size() == 100 - 26 && shared_map.size() == 100 - 34);
}
