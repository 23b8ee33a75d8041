//! Libraries that are loaded and unloaded while the program runs.

use crate::support::Folder;

/// Two threads load a library each, one after the other, ordered by the loader only. Says where their functions are.
const LOADS: &str = r#"#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdio.h>
static atomic_int turn;
static void use(const char *library, const char *function) {
    void *handle = dlopen(library, RTLD_NOW);
    if (!handle) { puts(dlerror()); return; }
    void (*work)(void) = (void (*)(void))dlsym(handle, function);
    work();
    printf("%p\n", (void *)work);
    dlclose(handle);
}
static void *second(void *unused) {
    while (!atomic_load_explicit(&turn, memory_order_relaxed)) sched_yield();
    use("./libsecond.so", "second_work");
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second, 0);
    use("./libfirst.so", "first_work");
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    pthread_join(thread, 0);
}
"#;

#[test]
fn a_library_in_the_place_of_another() {
    let folder = Folder::new();
    for name in ["first", "second"] {
        let source = format!("{name}.c");
        folder.write(
            &source,
            format!("int {name}_value;\nvoid {name}_work(void) {{\n    {name}_value++;\n}}\n"),
        );
        let library = format!("lib{name}.so");
        folder.compile(&["cc", "-g", "-shared", "-fPIC", &source, "-o", &library]).success();
    }
    folder.build("loads.c", LOADS);
    let ran = folder.foresee(&["run", "--trace", "run.ft", "--", "./prog"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let mut places = ran.stdout.lines();
    let reused = places.next() == places.next();
    let dump = folder.foresee(&["trace", "dump", "run.ft"]).success();
    for (thread, name) in [("main", "first"), ("T1", "second")] {
        let place = format!("{name}.c:3:");
        let written =
            dump.lines().filter(|line| line.starts_with(&format!("{thread}|w("))).collect::<Vec<_>>();
        let there =
            written.iter().any(|line| line.contains(&place) && line.contains(&format!("{name}_work")));
        assert!(there, "same addresses: {reused}; {written:?}");
    }
}
