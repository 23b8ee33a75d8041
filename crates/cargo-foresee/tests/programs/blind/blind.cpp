// Correct programs in which what one thread does under a lock is not recorded, or what another decides by: each would be a race of the other
// schedule, if the recording were believed to be all. The first argument says which.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <list>
#include <locale>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

struct Shared {
    virtual void take() = 0;
    virtual void drop() = 0;
    virtual char *text() = 0;
};

extern "C" {
Shared *outside_shared();
void outside_write(int *);
int outside_read(const int *);
void outside_put();
int outside_get();
void outside_signal();
int outside_signalled();
void outside_wait(int *);
}

static int data;
static std::mutex guard;

static pthread_barrier_t both;
static void later() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

// One thread writes the data and then changes the state under the lock; the other reads the data if it finds the state changed.
template <class Set, class IsSet> static void under_lock(Set set, IsSet is_set) {
    std::thread writer([=] {
        data = 42;
        std::lock_guard<std::mutex> hold(guard);
        set();
    });
    std::thread reader([=] {
        later();
        bool ready;
        {
            std::lock_guard<std::mutex> hold(guard);
            ready = is_set();
        }
        if (ready && data != 42) abort();
    });
    writer.join();
    reader.join();
}

struct Pair { long first, second; };
static Pair pair;
__attribute__((noinline)) static Pair make_pair_of(long value) { return {value, value + 1}; }

struct Bits { unsigned small : 3; unsigned long wide : 40; unsigned rest : 5; };
static Bits bits;

typedef long Wide __attribute__((vector_size(64)));
static Wide wide;

static int state;
static std::list<int> list;
static std::map<int, int> map;
static std::string text = "short";
static std::ostringstream stream;
static int asm_state;
static long double extended;

static void spin(std::thread &writer, bool (*is_set)()) {
    std::thread reader([=] {
        while (!is_set()) std::this_thread::yield();
        if (data != 42) abort();
    });
    writer.join();
    reader.join();
}

static char buffer[64], in_memory[64];
static FILE *output;
static int file;
static volatile char *mapped;

// The state is in a frame, and changed by the function whose frame it is.
struct Job { std::mutex guard; int kind = 0, ready = 0; Pair result = {0, 0}; };

template <class Set, class IsSet> static void in_frame(Set set, IsSet is_set) {
    Job job;
    std::thread reader([&job, is_set] {
        later();
        bool ready;
        {
            std::lock_guard<std::mutex> hold(job.guard);
            ready = is_set(job);
        }
        if (ready && data != 42) abort();
    });
    data = 42;
    {
        std::lock_guard<std::mutex> hold(job.guard);
        set(job);
    }
    reader.join();
}

// The function's own structures, which nobody else knows, keep nothing from being predicted.
static void beside_own_frame() {
    std::thread reader([] { later(); { std::lock_guard<std::mutex> hold(guard); } data = 43; });
    Pair own = make_pair_of(3);
    int numbers[8] = {};
    data = 42;
    {
        std::lock_guard<std::mutex> hold(guard);
        for (int i = 0; i < 8; i++) numbers[i] = i * (int)own.second;
        own.first += numbers[5];
    }
    reader.join();
    if (own.first == 0) abort();
}

struct Marked : std::locale::facet {
    static std::locale::id id;
    int *marks;
    explicit Marked(int *marks) : marks(marks) {}
    ~Marked() { if (marks[0] + marks[1] != 2) abort(); }
};
std::locale::id Marked::id;

int main(int, char **argv) {
    std::string which = argv[1];
    // Whether the main thread is the last that has a share.
    bool is_last = argv[2];
    if (which == "own_buffer") {
        output = fopen("/dev/null", "w");
        setvbuf(output, buffer, _IOFBF, sizeof buffer);
        under_lock([] { fputs("set", output); }, [] { return buffer[0] == 's'; });
    }
    if (which == "memory_stream") {
        output = fmemopen(in_memory, sizeof in_memory, "w");
        under_lock([] { fprintf(output, "%d", 7); fflush(output); }, [] { return in_memory[0] == '7'; });
    }
    if (which == "mapped_file") {
        char name[] = "/tmp/foresee-mapped-XXXXXX";
        file = mkstemp(name);
        if (unlink(name) || ftruncate(file, 4096)) abort();
        mapped = (volatile char *)mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
        under_lock([] { if (pwrite(file, "set", 3, 0) != 3) abort(); }, [] { return mapped[0] == 's'; });
    }
    if (which == "result") under_lock([] { pair = make_pair_of(7); }, [] { return pair.second == 8; });
    if (which == "bit_field") under_lock([] { bits.wide = 9; }, [] { return bits.wide == 9; });
    if (which == "vector") under_lock([] { wide = wide + 1; }, [] { Wide copy = wide; return copy[3] == 1; });
    if (which == "extended") under_lock([] { extended = 1; }, [] { return extended == 1; });
    if (which == "list") under_lock([] { list.push_back(1); }, [] { return list.begin() != list.end(); });
    if (which == "map") under_lock([] { map[3] = 4; }, [] { return map.find(3) != map.end(); });
    if (which == "text") under_lock([] { text.append(" and long enough for the heap"); }, [] { return text.find("heap") != text.npos; });
    if (which == "stream") under_lock([] { stream << 12; }, [] { return stream.str() == "12"; });
    if (which == "assembly") under_lock([] { asm volatile("movl $1, %0" : "=m"(asm_state)); }, [] { return asm_state == 1; });
    if (which == "write_outside") under_lock([] { outside_write(&state); }, [] { return state == 1; });
    if (which == "read_outside") under_lock([] { state = 1; }, [] { return outside_read(&state) == 1; });
    if (which == "lock_outside") {
        std::thread writer([] { data = 42; outside_put(); });
        std::thread reader([] { later(); if (outside_get() && data != 42) abort(); });
        writer.join();
        reader.join();
    }
    if (which == "order_outside") {
        std::thread writer([] { data = 42; outside_signal(); });
        spin(writer, [] { return outside_signalled() == 1; });
    }
    if (which == "atomic_in_assembly") {
        std::thread writer([] { data = 42; int one = 1; asm volatile("lock xaddl %0, %1" : "+r"(one), "+m"(asm_state) : : "memory"); });
        spin(writer, [] { int none = 0; asm volatile("lock xaddl %0, %1" : "+r"(none), "+m"(asm_state) : : "memory"); return none == 1; });
    }
    if (which == "ready_at_exit") {
        std::promise<void> promise;
        auto future = promise.get_future();
        std::thread writer([&] { data = 42; promise.set_value_at_thread_exit(); });
        future.get();
        if (data != 42) abort();
        writer.join();
    }
    // The standard orders whoever asks after whoever has set.
    if (which == "new_handler") {
        static void (*const handler)() = [] {};
        std::thread setter([] { data = 42; std::set_new_handler(handler); });
        while (std::get_new_handler() != handler) std::this_thread::yield();
        if (data != 42) abort();
        setter.join();
    }
    // The program's own atomic, which code outside waits for.
    if (which == "waits_outside") {
        static int flag;
        std::thread reader([] { outside_wait(&flag); if (data != 42) abort(); });
        data = 42;
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
        reader.join();
    }
    // One counts down in assembly, the other does not.
    if (which == "beside_assembly") {
        static int left = 2, done[2];
        auto last = [] { if (done[0]++ + done[1]++ != 2) abort(); };
        std::thread one([=] { done[0] = 1; if (__atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL) == 0) last(); });
        std::thread other([=] {
            unsigned char is_last;
            if (is_last) later();
            done[1] = 1;
            asm volatile("lock decl %0; sete %1" : "+m"(left), "=q"(is_last) :: "memory");
            if (is_last) last();
        });
        one.join();
        other.join();
    }
    // Copies share the text, and the last one frees it.
    if (which == "shared_text") {
        auto *first = new std::runtime_error("a text that all copies share");
        auto use = [](std::runtime_error copy) { if (std::strlen(copy.what()) < 10) abort(); };
        std::thread one(use, *first), other(use, *first);
        if (is_last) later();
        delete first;
        one.join();
        other.join();
    }
    // So do those who hold an object of code outside.
    if (which == "shared_outside") {
        Shared *first = outside_shared();
        auto use = [=] { if (first->text()[0] != 's') abort(); first->drop(); };
        first->take();
        std::thread other(use);
        if (is_last) later();
        use();
        other.join();
    }
    // Copies of a locale share its facets, and the last one destroys them.
    if (which == "shared_locale") {
        int marks[2] = {};
        auto *first = new std::locale(std::locale::classic(), new Marked(marks));
        auto use = [&](std::locale copy, int i) { marks[i] = std::has_facet<Marked>(copy); };
        std::thread one(use, *first, 0), other(use, *first, 1);
        delete first;
        one.join();
        other.join();
    }
    // A child hands on what it finds in memory that it shares.
    if (which == "child_memory") {
        auto *flags = static_cast<std::atomic<int> *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        pid_t child = fork();
        if (child == 0) {
            while (!flags[0]) usleep(100);
            flags[1] = 1;
            _exit(0);
        }
        std::thread reader([=] { while (!flags[1]) usleep(100); if (data != 42) abort(); });
        data = 42;
        flags[0] = 1;
        reader.join();
        waitpid(child, nullptr, 0);
    }
    if (which == "field_in_frame") in_frame([](Job &job) { job.ready = 1; }, [](Job &job) { return job.ready == 1; });
    if (which == "result_in_frame") in_frame([](Job &job) { job.result = make_pair_of(7); }, [](Job &job) { return job.result.second == 8; });
    if (which == "beside_own_frame") beside_own_frame();
    // What is seen and wrong is found as ever: the state is not asked.
    if (which == "wrong") {
        // Both are there before either ends: who has ended may have run what orders it with all that comes later.
        pthread_barrier_init(&both, nullptr, 2);
        std::thread writer([] { pthread_barrier_wait(&both); data = 42; std::lock_guard<std::mutex> hold(guard); state = 1; });
        std::thread reader([] { pthread_barrier_wait(&both); later(); { std::lock_guard<std::mutex> hold(guard); } data = 43; });
        writer.join();
        reader.join();
    }
    return 0;
}
