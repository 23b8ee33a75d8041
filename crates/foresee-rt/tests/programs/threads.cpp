#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>
struct Table {
    std::vector<int> values;
    Table() : values(100, 7) {}
};
static Table &table() { static Table t; return t; }
static std::once_flag once;
static std::string greeting;
static std::shared_mutex lock;
static int value;
struct Late { std::shared_ptr<int> p; ~Late() { if (p) ++*p; } };
static thread_local Late late;
int main() {
    std::vector<std::thread> threads;
    auto shared = std::make_shared<std::string>("a shared string that is long enough for the heap");
    for (int i = 0; i < 4; i++) threads.emplace_back([shared, i] {
        late.p = std::make_shared<int>(i);
        std::call_once(once, [] { greeting = "hello from whoever was first, at length"; });
        long sum = greeting.size() + shared->size();
        for (int v : table().values) sum += v;
        if (i % 2) { std::unique_lock<std::shared_mutex> l(lock); value += sum; }
        else { std::shared_lock<std::shared_mutex> l(lock); sum += value; }
    });
    shared.reset();
    for (auto &t : threads) t.join();
    std::promise<std::vector<int>> promise;
    auto future = promise.get_future();
    std::thread producer([&] { promise.set_value(std::vector<int>(10, 3)); });
    int sum = 0;
    for (int v : future.get()) sum += v;
    producer.join();
    std::mutex m;
    std::condition_variable c;
    bool ready = false;
    std::thread waiter([&] { std::unique_lock<std::mutex> l(m); c.wait(l, [&] { return ready; }); sum++; });
    { std::lock_guard<std::mutex> l(m); ready = true; c.notify_one(); }
    waiter.join();
    return sum != 31;
}
