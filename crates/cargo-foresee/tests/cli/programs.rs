//! Small C and C++ programs, and building them by foresee.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::support::{Folder, Outcome, outcome};

/// A race on `counter`; what is allocated is from an allocator of its own, under a lock.
pub(crate) const OWN_NAMES: &str = r#"
#include <pthread.h>
#include <stddef.h>
int send = 3, poll;
int accept(int a) { return a + send; }
int close(int a) { return a - 1; }
double select(double a) { return a * 2; }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char room[1 << 22];
static size_t used;
void *malloc(size_t size) {
    pthread_mutex_lock(&lock);
    void *block = room + used;
    used += (size + 31) / 32 * 32;
    pthread_mutex_unlock(&lock);
    return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
    char *to = malloc(size), *from = block;
    for (size_t i = 0; from && i < size && from + i < room + sizeof room; i++) to[i] = from[i];
    return to;
}
int counter;
static void *work(void *arg) {
    int *own = malloc(sizeof *own);
    *own = accept(4) + close(2) + (int)select(1);
    counter += *own;
    free(own);
    return arg;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return poll;
}
"#;

/// Two threads count under a mutex; exits with code 3.
pub(crate) const GUARDED: &str = r#"
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void *work(void *unused) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&guard);
        counter++;
        pthread_mutex_unlock(&guard);
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%d\n", counter);
    return 3;
}
"#;

/// Two threads count without a lock, in line 5.
pub(crate) const UNGUARDED: &str = r#"#include <pthread.h>
#include <stdio.h>
int counter;
static void *work(void *unused) {
    counter++;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// Two threads take two mutexes in opposite orders; nothing but time keeps them apart.
pub(crate) const INVERSION: &str = r#"#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void *forward(void *unused) {
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return unused;
}
static void *backward(void *unused) {
    usleep(100000);
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, forward, 0);
    pthread_create(&b, 0, backward, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// A queue of C++: threads, a mutex, a condition variable, an atomic.
pub(crate) const CXX_QUEUE: &str = r#"
#include <atomic>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>
struct Queue {
    std::mutex guard;
    std::condition_variable filled;
    std::deque<int> items;
    void put(int item) {
        { std::lock_guard<std::mutex> held(guard); items.push_back(item); }
        filled.notify_one();
    }
    int take() {
        std::unique_lock<std::mutex> held(guard);
        filled.wait(held, [&] { return !items.empty(); });
        int item = items.front();
        items.pop_front();
        return item;
    }
};
static Queue queue;
static std::atomic<int> sum;
int main() {
    std::thread taker([] { for (int i = 0; i < 20; i++) sum += queue.take(); });
    std::thread putter([] { for (int i = 0; i < 20; i++) queue.put(i); });
    putter.join();
    taker.join();
    std::cout << sum << std::endl;
}
"#;

/// A C++ data race on a static of a class, in line 5.
pub(crate) const CXX_RACE: &str = r#"#include <thread>
#include <mutex>
struct Bank {
    static long total;
    void pay(long amount) { total += amount; }
};
long Bank::total = 5;
int main() {
    Bank bank;
    std::thread other([&] { bank.pay(1); });
    bank.pay(2);
    other.join();
}
"#;

/// Races on an array and on a value with an alignment, in line 9, which come from lines 6 and 7; and there is not memory enough for
/// what it wants last.
pub(crate) const CXX_NEW: &str = r#"#include <cstdio>
#include <new>
#include <thread>
struct alignas(64) Wide { int x; };
int main() {
    int *array = new int[4];
    Wide *wide = new Wide();
    int *quiet = new (std::nothrow) int(3);
    std::thread other([&] { array[2] = 1; wide->x = 1; *quiet = 1; });
    array[2] = 2; wide->x = 2; *quiet = 2;
    other.join();
    delete[] array;
    delete wide;
    delete quiet;
    volatile size_t huge = (size_t)1 << 62;
    try { delete[] new char[huge]; } catch (std::bad_alloc &) { puts("thrown"); }
    if (!new (std::nothrow) char[huge]) puts("null");
}
"#;

/// Has some of its own `new` and `delete`; exits with the number of blocks that were not given back to it.
pub(crate) const CXX_OWN_NEW: &str = r#"#include <cstdlib>
#include <new>
#include <string>
#include <vector>
static int live;
void *operator new(std::size_t size) { live++; return (char *)malloc(size + 16) + 16; }
void operator delete(void *block) noexcept { if (block) { live--; free((char *)block - 16); } }
int main() {
    int *one = new int(3), *array = new int[7], *quiet = new (std::nothrow) int[9];
    { std::vector<std::string> all(10, std::string(100, 'x')); }
    delete one;
    delete[] array;
    delete[] quiet;
    return live;
}
"#;

/// The child of a fork has a race in line 5; the parent has none.
pub(crate) const FORKS: &str = r#"#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int counter;
static void *work(void *unused) { counter++; return unused; }
int main(int count, char **words) {
    pid_t child = fork();
    if (child == 0) {
        pthread_t a, b;
        pthread_create(&a, 0, work, 0);
        pthread_create(&b, 0, work, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        _exit(0);
    }
    waitpid(child, 0, 0);
    if (count > 1) execl(words[0], words[0], (char *)0);
    return 0;
}
"#;

/// The runtime library, built as the program under test was.
static RUNTIME: LazyLock<PathBuf> = LazyLock::new(|| {
    let profile = Path::new(env!("CARGO_BIN_EXE_foresee")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--locked", "-p", "foresee-rt", "--target-dir"])
        .arg(profile.parent().unwrap());
    cargo.args(profile.ends_with("release").then_some("--release"));
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let library = profile.join("libforesee_rt.a");
    assert!(library.is_file(), "{} expected", library.display());
    library
});

/// The compilers that can be driven, as `FORESEE_CC` and `FORESEE_CXX`. In CI they must all be there.
pub(crate) fn compilers() -> impl Iterator<Item = (&'static str, &'static str)> {
    let required = std::env::var("CI").is_ok_and(|ci| ci == "true");
    [("gcc", "g++"), ("clang", "clang++")].into_iter().filter(move |(c, _)| {
        let there = required || Command::new(c).arg("--version").output().is_ok();
        if !there {
            eprintln!("skipped: there is no {c}");
        }
        there
    })
}

impl Folder {
    /// Where the runtime is.
    pub(crate) fn runtime(&self) -> &'static Path {
        &RUNTIME
    }

    /// `foresee cc …` or `foresee c++ …`, with the runtime in its place.
    pub(crate) fn compile(&self, args: &[&str]) -> Outcome {
        LazyLock::force(&RUNTIME);
        self.foresee(args)
    }

    /// A program of one source, built in one command.
    pub(crate) fn build(&self, source: &str, text: &str) {
        self.write(source, text);
        let driver = if source.ends_with(".c") { "cc" } else { "c++" };
        self.compile(&[driver, "-Wall", "-Werror", "-O1", source, "-o", "prog", "-pthread"]).success();
    }

    /// `make` with foresee as compilers.
    pub(crate) fn make(&self, makefile: &str) -> Outcome {
        LazyLock::force(&RUNTIME);
        self.write("Makefile", makefile);
        let foresee = env!("CARGO_BIN_EXE_foresee");
        let mut make = Command::new("make");
        make.arg(format!("CC={foresee} cc")).arg(format!("CXX={foresee} c++")).current_dir(self.path("."));
        outcome(make.output().unwrap())
    }
}
