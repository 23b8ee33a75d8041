// Correct programs whose order is made within the C++ library, by code that nobody records or that says less than it means.
#include <iostream>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <locale>
#include <memory>
#include <regex>
#include <string>
#include <thread>

static void later() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

struct Noted {
    int state = 1;
    ~Noted() { state = 0; }
};

// The last weak owner frees what the last owner has destroyed.
static void weak_owner() {
    auto owner = std::make_shared<Noted>();
    std::thread watches([weak = std::weak_ptr<Noted>(owner)]() mutable { later(); weak.reset(); });
    std::thread owns([owner = std::move(owner)]() mutable { owner.reset(); });
    owns.join();
    watches.join();
}

// The last owner frees what a weak one has asked.
static void asks_whether_it_lives() {
    auto owner = std::make_shared<Noted>();
    std::thread asks([weak = std::weak_ptr<Noted>(owner)] { if (weak.use_count() > 1) abort(); });
    later();
    owner.reset();
    asks.join();
}

static void barrier() {
    static int parts[2], total;
    auto sum = []() noexcept { total = parts[0] + parts[1]; };
    std::barrier all(2, sum);
    auto work = [&](int i) {
        for (int round = 0; round < 3; round++) {
            parts[i] += round + total;
            all.arrive_and_wait();
        }
    };
    std::thread one(work, 0), other(work, 1);
    one.join();
    other.join();
}

struct Mark : std::numpunct<char> {
    char mark = ';';
    ~Mark() override { mark = 0; }
    char do_thousands_sep() const override { return mark; }
};

// The last copy of a locale destroys what all have used.
static void facet() {
    auto *first = new std::locale(std::locale::classic(), new Mark);
    std::thread uses([copy = *first]() mutable {
        if (std::use_facet<std::numpunct<char>>(copy).thousands_sep() != ';') abort();
        copy = std::locale::classic();
    });
    later();
    delete first;
    uses.join();
}

// So does the last copy of an iterator.
static void folders() {
    std::filesystem::recursive_directory_iterator first("/usr/include");
    std::thread uses([copy = first]() mutable { if (copy->path().empty()) abort(); copy = {}; });
    later();
    first = {};
    uses.join();
}

// Expressions share a cache of the locale.
static void expressions() {
    auto work = [] {
        std::regex number("([0-9]+) ([0-9.]+)");
        if (!std::regex_search(std::string("00001 3.25"), number)) abort();
    };
    std::thread one(work), other(work);
    one.join();
    other.join();
}

// Texts of the old kind are shared by their copies.
static void text() {
    auto *first = new std::string("long enough for the heap, and shared");
    std::thread uses([copy = *first]() mutable {
        const std::string &text = copy;
        for (char c : text) if (c == 0) abort();
        copy.append("!");
    });
    later();
    delete first;
    uses.join();
}

// The last who knows an exception destroys it.
static void exception() {
    std::exception_ptr first;
    try { throw Noted(); } catch (...) { first = std::current_exception(); }
    std::thread uses([copy = first]() mutable {
        try { std::rethrow_exception(copy); } catch (Noted &noted) { if (noted.state != 1) abort(); }
        copy = nullptr;
    });
    later();
    first = nullptr;
    uses.join();
}

static void atomic_owner() {
#ifdef __cpp_lib_atomic_shared_ptr
    static std::atomic<std::shared_ptr<int>> owner{std::make_shared<int>(1)};
    std::thread reads([] { if (*owner.load() != 1) abort(); });
    later();
    owner.store(std::make_shared<int>(2));
    reads.join();
#endif
}

// Any number of threads may use the standard streams at once.
static void prints() {
    std::thread prints([] { std::cout << "" << std::flush; });
    std::cout << "";
    prints.join();
}

int main(int, char **argv) {
    std::string which = argv[1];
    if (which == "weak_owner") weak_owner();
    if (which == "asks_whether_it_lives") asks_whether_it_lives();
    if (which == "barrier") barrier();
    if (which == "facet") facet();
    if (which == "folders") folders();
    if (which == "expressions") expressions();
    if (which == "text") text();
    if (which == "exception") exception();
    if (which == "atomic_owner") atomic_owner();
    if (which == "prints") prints();
}
