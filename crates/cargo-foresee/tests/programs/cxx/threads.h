// What these programs start their threads with.
#include <chrono>
#include <mutex>
#include <thread>

// Long enough for the other thread to have done all it does.
inline void later() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

// Each in a thread of its own, at the same time.
template <class... Work> void together(Work... work) {
    std::thread threads[] = {std::thread(work)...};
    for (auto &thread : threads) thread.join();
}
