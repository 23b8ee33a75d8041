//! The end of a program waits for threads that nobody joins, as long as they have something to do.

use serde_json::Value;

use crate::support::Folder;

/// Two threads count, late, in line 20, and see what `main` has left; others sleep for good, or never end. It ends by `return` or by
/// `exit`, and its destructor comes last.
const LATE: &str = r#"#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static int counter, ends[2];
static sem_t never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *count(void *of_main) {
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    char *own = of_main;
    if (*own == 0) usleep(100000); else sem_timedwait(&never, &soon);
    if (*own > 1) abort();
    counter++;
    return 0;
}
static void *sleep_for_good(void *kind) {
    char byte;
    struct pollfd polled = {ends[0], POLLIN, 0};
    for (;;) {
        switch (*(char *)kind) {
        case 0: pause(); break;
        case 1: (void)!read(ends[0], &byte, 1); break;
        case 2: poll(&polled, 1, -1); break;
        case 3: sem_wait(&never); break;
        default: pthread_mutex_lock(&mutex); for (;;) pthread_cond_wait(&condition, &mutex);
        }
    }
    return 0;
}
static void *go_on(void *unused) { for (;;) usleep(1000); return unused; }
__attribute__((destructor)) static void last(void) { printf("%d\n", counter); }
int main(int count_of_words, char **words) {
    char kinds[5] = {0, 1, 2, 3, 4};
    if (count_of_words != 2 || pipe(ends) || sem_init(&never, 0, 0)) return 1;
    int sleeps = strcmp(words[1], "sleep") == 0, goes_on = strcmp(words[1], "go-on") == 0;
    for (int i = 0; i < (sleeps ? 5 : 2); i++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, sleeps ? sleep_for_good : goes_on ? go_on : count, &kinds[i])) return 1;
        pthread_detach(thread);
    }
    if (strcmp(words[1], "exit") == 0) exit(3);
    return 3;
}
"#;

#[test]
fn threads_that_nobody_joins_have_time() {
    let folder = Folder::new();
    folder.build("late.c", LATE);
    for how in ["return", "exit"] {
        let outcome = folder.foresee(&["run", "--exit-wait", "20s", "--format", "json", "--", "./prog", how]);
        assert_eq!(outcome.code, Some(66), "{how}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.starts_with("2\n"), "{how}: {}", outcome.stdout);
        let report: Value = serde_json::from_str(&outcome.stdout["2\n".len()..]).unwrap();
        let of_counter = |one: &Value| one["kind"] == "race" && one["events"][0]["location"]["line"] == 20;
        assert!(report["findings"].as_array().unwrap().iter().any(of_counter), "{how}: {report}");
    }
}

#[test]
fn threads_that_sleep_for_good_are_not_waited_for() {
    let folder = Folder::new();
    folder.build("late.c", LATE);
    let line = ["run", "--exit-wait", "1h", "--timeout", "60s", "--", "./prog", "sleep"];
    let outcome = folder.foresee(&line);
    assert_eq!(outcome.code, Some(3), "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn threads_that_never_end_are_waited_for_only_so_long() {
    let folder = Folder::new();
    folder.build("late.c", LATE);
    for wait in ["0", "50ms"] {
        let outcome =
            folder.foresee(&["run", "--exit-wait", wait, "--timeout", "60s", "--", "./prog", "go-on"]);
        assert_eq!(outcome.code, Some(3), "{wait}: {}{}", outcome.stdout, outcome.stderr);
    }
}

/// Threads that wait for each other by looking at an atomic over and over, on one processor: who looks makes way for who is waited for. Without that, each would
/// look for as long as the kernel lets it, tens of thousands of times.
#[test]
fn who_spins_makes_way() {
    let folder = Folder::new();
    folder.build(
        "spin.c",
        r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <sched.h>
        #include <stdatomic.h>
        enum { THREADS = 3, TURNS = 200 };
        static atomic_int turn;
        static void *takes_turns(void *given) {
            int me = (int)(long)given;
            for (int i = 0; i < TURNS; i++) {
                while (turn != me) ;
                turn = (me + 1) % THREADS;
            }
            return 0;
        }
        int main(void) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(sched_getcpu(), &one);
            sched_setaffinity(0, sizeof one, &one);
            pthread_t threads[THREADS];
            for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, takes_turns, (void *)i);
            for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
        }
        "#,
    );
    let ran = folder.foresee(&["run", "--engine", "hb", "--format", "json", "--", "./prog"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let events = report["stats"]["events"].as_u64().unwrap();
    assert!(events < 3_000_000, "{events} events for 600 turns");
}
