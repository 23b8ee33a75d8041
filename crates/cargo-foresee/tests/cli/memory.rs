//! Memory and locks without a name are told by where they come from, the same in every run.

use serde_json::Value;

use crate::support::{Folder, Outcome};

fn findings(outcome: &Outcome) -> Vec<Value> {
    assert_eq!(outcome.code, Some(66), "stdout: {}\nstderr: {}", outcome.stdout, outcome.stderr);
    let start = outcome.stdout.find('{').unwrap();
    let report: Value = serde_json::from_str(&outcome.stdout[start..]).unwrap();
    report["findings"].as_array().unwrap().clone()
}

const HEAP_RACE: &str = "\
main|thread_begin
main|enter(main)
main|alloc([0x1000..0x1018])|/rustc/1234/library/alloc/src/alloc.rs:9:1 in alloc
main|free([0x1000..0x1018])|src/main.rs:4 in main
main|enter(make)|src/main.rs:5:1 in main
main|alloc([0x1000..0x1018])|src/main.rs:7:13 in make
main|exit(make)
main|fork(worker)|src/main.rs:6 in main
worker|w([0x1008..0x100c])|src/main.rs:20 in work
main|r([0x1008..0x100c])|src/main.rs:30 in main
";

#[test]
fn a_heap_block_with_where_it_was_allocated() {
    let folder = Folder::new();
    folder.write("t.std", HEAP_RACE);
    let outcome = folder.foresee(&["check", "t.std", "--format", "json"]);
    let [finding] = &findings(&outcome)[..] else { panic!("{}", outcome.stdout) };
    for event in finding["events"].as_array().unwrap() {
        let memory = &event["memory"];
        assert_eq!((&memory["kind"], &memory["address"]), (&"heap".into(), &"0x1008".into()));
        assert_eq!((&memory["offset"], &memory["size"]), (&8.into(), &24.into()));
        let allocated = &memory["allocated"];
        assert_eq!((&allocated["thread"], &allocated["location"]["line"]), (&"main".into(), &7.into()));
        let functions: Vec<&str> =
            allocated["stack"].as_array().unwrap().iter().filter_map(|f| f["function"].as_str()).collect();
        assert_eq!(functions, ["make", "main"]);
        assert_eq!(memory["freed"], Value::Null, "the life before was freed, not this one");
        assert_eq!(event["target"], "bytes 8..12 of heap block from main.rs:7");
    }
    let human = folder.foresee(&["check", "t.std"]).stderr;
    assert!(
        human.contains("    heap block of 24 bytes, allocated by `main` at src/main.rs:7:13\n"),
        "{human}"
    );
    assert!(human.contains("`worker` writes bytes 8..12 of the block here"), "{human}");
    let sarif = folder.foresee(&["check", "t.std", "--format", "sarif"]).stdout;
    assert!(sarif.contains("heap block of 24 bytes, allocated by `main`"), "{sarif}");
}

#[test]
fn freed_memory_with_who_freed_it() {
    let folder = Folder::new();
    let trace = HEAP_RACE.replace("main|r([0x1008..0x100c])", "main|free([0x1000..0x1018])");
    folder.write("t.std", trace.replace("worker|w", "worker|branch\nworker|r"));
    let after = "worker|r([0x1010..0x1018])|src/main.rs:21 in work\n";
    folder.write("t.std", String::from_utf8(folder.read("t.std")).unwrap() + after);
    let found = findings(&folder.foresee(&["check", "t.std", "--engine", "hb", "--format", "json"]));
    let uses: Vec<&Value> = (found.iter().flat_map(|finding| finding["events"].as_array().unwrap()))
        .filter(|event| event["location"]["line"] == 21)
        .collect();
    let [used] = uses[..] else { panic!("{found:?}") };
    assert_eq!(used["memory"]["freed"]["thread"], "main");
    assert_eq!(used["memory"]["freed"]["location"]["line"], 30);
}

#[test]
fn allocations_in_rusts_library_are_told_by_the_users_line() {
    let folder = Folder::new();
    let library = "/rustc/1234/library/alloc/src/alloc.rs:95:9 in alloc::alloc::alloc";
    folder.write("t.std", HEAP_RACE.replace("src/main.rs:7:13 in make", library));
    let human = folder.foresee(&["check", "t.std"]).stderr;
    // `make` is left before its own lines are known: it was called from line 5.
    assert!(human.contains("heap block of 24 bytes, allocated by `main` at src/main.rs:5:1\n"), "{human}");
}

#[test]
fn a_stack_by_its_thread() {
    let folder = Folder::new();
    let trace = HEAP_RACE.replace(
        "main|thread_begin\n",
        "main|thread_begin\nmain|alloc([0x7000..0x9000])\nmain|alloc([0x9000..0xa000])\n",
    );
    folder.write("t.std", trace.replace("[0x1008..0x100c]", "[0x8008..0x800c]"));
    let outcome = folder.foresee(&["check", "t.std", "--format", "json"]);
    let [finding] = &findings(&outcome)[..] else { panic!("{}", outcome.stdout) };
    let memory = &finding["events"][0]["memory"];
    assert_eq!((&memory["kind"], &memory["thread"]), (&"stack".into(), &"main".into()));
    assert_eq!(finding["events"][0]["target"], "stack of main");
}

#[test]
fn locks_are_told_by_the_memory_they_lie_in() {
    let folder = Folder::new();
    folder.write(
        "t.std",
        "main|thread_begin\nmain|alloc([0x7000..0x9000])\n\
         main|alloc([0x1000..0x1030])|src/main.rs:7\nmain|alloc([0x2000..0x2030])|src/main.rs:7\n\
         main|fork(a)|1\nmain|fork(b)|2\n\
         a|acq(l@0x1010)|3\na|acq(l@0x2010)|4\na|acq(l@0x7010)|4\na|rel(l@0x7010)|5\na|rel(l@0x2010)|5\na|rel(l@0x1010)|6\n\
         b|acq(l@0x2010)|7\nb|acq(l@0x1010)|8\nb|rel(l@0x1010)|9\nb|rel(l@0x2010)|10\n",
    );
    let outcome = folder.foresee(&["check", "t.std", "--format", "json"]);
    let [finding] = &findings(&outcome)[..] else { panic!("{}", outcome.stdout) };
    let message = finding["message"].as_str().unwrap();
    assert!(
        message.contains("waits for `lock in heap block from main.rs:7`")
            && message.contains("waits for `lock in heap block from main.rs:7 #2`"),
        "{message}"
    );
    let human = folder.foresee(&["check", "t.std"]).stderr;
    assert!(!human.contains("0x"), "addresses differ from run to run: {human}");
}

/// Two accounts of their own heap blocks, locked in opposite orders; a local of `main` that two threads write.
const ACCOUNTS: &str = r#"#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct account { pthread_mutex_t lock; int hits; };
struct transfer { struct account *from, *to; int *count; unsigned delay; };
static struct account *open_account(void) {
    struct account *account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, 0);
    account->hits = 0;
    return account;
}
static void *run(void *argument) {
    struct transfer *transfer = argument;
    usleep(transfer->delay);
    transfer->from->hits++;
    ++*transfer->count;
    pthread_mutex_lock(&transfer->from->lock);
    pthread_mutex_lock(&transfer->to->lock);
    pthread_mutex_unlock(&transfer->to->lock);
    pthread_mutex_unlock(&transfer->from->lock);
    return 0;
}
int main(void) {
    int count = 0;
    struct account *a = open_account(), *b = open_account();
    struct transfer there = {a, b, &count, 0}, back = {b, a, &count, 200000};
    pthread_t one, other;
    pthread_create(&one, 0, run, &there);
    pthread_create(&other, 0, run, &back);
    a->hits++;
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
"#;

#[test]
fn a_real_program_and_the_same_words_in_every_run() {
    let folder = Folder::new();
    folder.build("accounts.c", ACCOUNTS);
    let mut runs = Vec::new();
    for _ in 0..2 {
        let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./prog"]));
        let targets: std::collections::BTreeSet<String> = (found.iter())
            .flat_map(|finding| finding["events"].as_array().unwrap())
            .map(|event| event["target"].as_str().unwrap().to_owned())
            .collect();
        runs.push(targets);
    }
    let expected = [
        "bytes 40..44 of heap block from accounts.c:7",
        "lock in heap block from accounts.c:7",
        "lock in heap block from accounts.c:7 #2",
        "stack of main",
    ];
    assert_eq!(runs[0].iter().map(String::as_str).collect::<Vec<_>>(), expected);
    assert_eq!(runs[0], runs[1]);
}
