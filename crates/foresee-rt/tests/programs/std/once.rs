//! What is initialised once is seen by all, whether they initialise it, wait for it or find it done.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;
use std::time::Duration;

static LAZY: LazyLock<Vec<usize>> = LazyLock::new(|| {
    thread::sleep(Duration::from_millis(5));
    vec![1, 2, 3]
});
static CELL: OnceLock<String> = OnceLock::new();
static CALLED: Once = Once::new();
static WAITED: Once = Once::new();
static POISONED: Once = Once::new();
static mut BY_CALL: i32 = 0;
static mut BY_WAIT: i32 = 0;

fn main() {
    let threads: Vec<_> = (0..6)
        .map(|i| {
            thread::spawn(move || {
                assert_eq!(LAZY[i % 3], i % 3 + 1);
                assert_eq!(CELL.get_or_init(|| "a".repeat(40)).len(), 40);
                CALLED.call_once(|| unsafe { BY_CALL = 5 });
                assert_eq!(unsafe { BY_CALL }, 5);
                if i == 0 {
                    thread::sleep(Duration::from_millis(3));
                    WAITED.call_once(|| unsafe { BY_WAIT = 6 });
                } else {
                    WAITED.wait();
                }
                assert_eq!(unsafe { BY_WAIT }, 6);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(catch_unwind(|| POISONED.call_once(|| resume_unwind(Box::new(())))).is_err());
    POISONED.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(POISONED.is_completed());
}
