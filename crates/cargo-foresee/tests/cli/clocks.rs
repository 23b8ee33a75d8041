//! The clocks that records are ordered by: which programs need the counter, and that findings are the same by either.

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, outcome};

/// A thread counts under a lock, and another looks at the number: without the word `careful`, under another lock. `ORDERS` is done as well.
const COUNTING: &str = r#"
#include <pthread.h>
#include <sys/resource.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int number;
static volatile int seen;
static void *count(void *given) {
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&guard);
        number++;
        pthread_mutex_unlock(&guard);
    }
    ORDERS;
    return 0;
}
int main(int words, char **word) {
    pthread_t one;
    pthread_create(&one, 0, count, 0);
    pthread_mutex_t *used = words > 1 ? &guard : &other;
    pthread_mutex_lock(used);
    seen = number;
    pthread_mutex_unlock(used);
    pthread_join(one, 0);
}
"#;

fn build(folder: &Folder, compiler: &str, orders: &str) {
    folder.write("prog.c", COUNTING.replace("ORDERS", orders));
    let mut compile = folder.command(&["cc", "-g", "-O1", "prog.c", "-o", "prog", "-pthread"]);
    let compiled = outcome(compile.env("FORESEE_CC", compiler).output().unwrap());
    assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
}

#[test]
fn programs_that_order_threads_unseen_are_known_before_they_run() {
    let folder = Folder::new();
    let _ = folder.runtime();
    for (compiler, _) in compilers() {
        for (orders, is_unseen) in [
            ("", false),
            ("__atomic_fetch_add(&seen, 0, __ATOMIC_SEQ_CST)", false),
            ("__asm__ volatile(\"lock; addl $0, %0\" : \"+m\"(seen))", true),
            ("__asm__ volatile(\"\" : \"+m\"(seen))", false),
            ("setpriority(PRIO_PROCESS, 0, 0)", true),
        ] {
            build(&folder, compiler, orders);
            let found = foresee_symbols::may_order_unseen(&folder.path("prog")).unwrap();
            assert_eq!(found, is_unseen, "{compiler}: {orders}");
        }
    }
}

#[test]
fn findings_are_the_same_by_either_clock() {
    let folder = Folder::new();
    let _ = folder.runtime();
    for (compiler, _) in compilers() {
        build(&folder, compiler, "");
        for clock in ["counter", "time", "pages"] {
            for careful in [&["careful"][..], &[]] {
                let mut command =
                    folder.command(&[&["run", "--format", "json", "--", "./prog"], careful].concat());
                let ran = outcome(command.env("FORESEE_CLOCK", clock).output().unwrap());
                let report: Value =
                    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
                let found = report["findings"].as_array().unwrap();
                assert_eq!(found.len(), usize::from(careful.is_empty()), "{compiler}, {clock}: {report:#}");
                assert!(
                    found.iter().all(|one| one["kind"] == "race" && one["certainty"] != "candidate"),
                    "{report:#}"
                );
            }
        }
    }
}
