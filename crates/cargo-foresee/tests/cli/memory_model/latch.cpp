// C++20's latch, barrier, semaphores and jthread.
#include <array>
#include <barrier>
#include <cstdlib>
#include <latch>
#include <semaphore>
#include <thread>
static std::array<int, 3> cells;
static int sum, rounds, bought;
static std::latch filled(3);
static std::barrier turn(3, []() noexcept { rounds++; });
static std::counting_semaphore<3> items(0);
static std::binary_semaphore one(1);
static void work(int i) {
    cells[i] = i;
    filled.count_down();
#ifndef BROKEN
    filled.wait();
#endif
    if (cells[(i + 1) % 3] == 77) abort();
    for (int round = 0; round < 3; round++) {
        turn.arrive_and_wait();
        if (i == round) sum += cells[(i + round) % 3];
        turn.arrive_and_wait();
    }
    one.acquire();
    bought++;
    one.release();
    items.release();
}
int main() {
    std::jthread a(work, 0), b(work, 1), c(work, 2);
    std::jthread stopped([](std::stop_token stop) { while (!stop.stop_requested()) std::this_thread::yield(); });
    for (int i = 0; i < 3; i++) items.acquire();
    if (bought != 3 || rounds != 6) abort();
    stopped.request_stop();
}
