//! Semaphores that are locks are taken for such: predictions go across them. Others keep the order of the run.

use crate::hangs::findings;
use crate::programs::compilers;
use crate::support::Folder;

/// What two threads do, one after the other, is in the first word.
const SOURCE: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>
static sem_t one, other;
static volatile int shared, mine, yours;
static const char *how;
static int is(const char *what) { return strcmp(how, what) == 0; }
static void enter(void) {
    if (is("tried")) { while (sem_trywait(&one)) usleep(100); }
    else sem_wait(&one);
}
static void *first(void *arg) {
    if (is("inverted")) { sem_wait(&one); sem_wait(&other); sem_post(&other); sem_post(&one); return arg; }
    if (is("handed_over")) { shared = 1; sem_post(&other); return arg; }
    shared = 1;
    enter(); mine++; sem_post(&one);
    if (is("turns")) sem_post(&other);
    return arg;
}
static void *second(void *arg) {
    usleep(100000);
    if (is("inverted")) { sem_wait(&other); sem_wait(&one); sem_post(&one); sem_post(&other); return arg; }
    if (is("handed_over")) { sem_wait(&other); shared = 2; return arg; }
    if (is("turns")) sem_wait(&other);
    enter(); yours++; sem_post(&one);
    shared = 2;
    return arg;
}
int main(int words, char **word) {
    pthread_t threads[2];
    how = words > 1 ? word[1] : "";
    sem_init(&one, 0, is("two") ? 2 : 1);
    sem_init(&other, 0, is("turns") ? 0 : 1);
    if (is("handed_over")) sem_wait(&other);
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
"#;

#[test]
fn one_that_begins_with_1_and_is_raised_by_who_has_lowered_it_is_a_lock() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", SOURCE);
    for (compiler, _) in compilers() {
        let mut compile = folder.command(&["cc", "-g", "-O1", "prog.c", "-o", "prog", "-pthread"]);
        let compiled = compile.env("FORESEE_CC", compiler).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let found = |how: &str| -> Vec<String> {
            let run = folder.foresee(&["run", "--format", "json", "--", "./prog", how]);
            findings(&run).into_iter().map(|(kind, _)| kind).collect()
        };
        for (how, expected) in [
            ("", &["predicted race"][..]),
            ("tried", &["predicted race"]),
            ("inverted", &["predicted deadlock"]),
            ("handed_over", &[]),
            ("turns", &[]),
            ("two", &[]),
        ] {
            assert_eq!(found(how), expected, "{compiler} {how}");
        }
    }
}

#[test]
fn nothing_is_predicted_across_others_and_that_is_said() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", SOURCE);
    folder.foresee(&["cc", "-g", "prog.c", "-o", "prog", "-pthread"]).success();
    let said = |how: &str| folder.foresee(&["run", "--", "./prog", how]).stderr;
    let expected = "nothing was predicted across semaphore `one` at prog.c:";
    let two = said("two");
    assert!(two.contains(expected) && two.contains("which began with 2"), "{two}");
    assert!(!said("inverted").contains("nothing was predicted across"), "both are locks");
}
