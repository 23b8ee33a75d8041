//! Properties about what threads know, monitored in the program.
#![allow(clippy::unwrap_used)]

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foresee::{Condition, Lock, RwLock, Shared};

foresee::monitor! {
    property Sections {
        thread i, j;
        local critical: bool = false;
        mttl: @i(critical -> !exists j != i: @j critical)
        @violation { recover "leave"; }
    }

    property Ordered {
        thread i, j;
        var ORDERED: int = 3;
        mttl: @i(write(ORDERED) -> !exists j != i: @j write(ORDERED))
        mttl values: @i(ORDERED >= 3)
        @violation { count; }
    }

    property Workers {
        thread boss: "boss";
        thread w: "worker-*";
        local done: int = 0;
        mttl: @boss(forall w: @w (done <= 1))
        @violation { count; }
    }

    property Waits {
        thread waiter: "waiter";
        thread notifier: "notifier";
        local told: int = 0;
        mttl: @waiter(@notifier told == 0)
        @violation { count; }
    }

    property Readers {
        thread i, j;
        local reads: bool = false;
        mttl: @i(reads -> !exists j != i: @j reads)
        @violation { count; }
    }

    property Panics {
        thread i;
        local panics: bool = false;
        mttl: @i(!panics)
        @violation { recover "panics"; }
    }

    property Again {
        thread i;
        local again: int = 0;
        mttl: @i(again == 0)
        mttl more: @i(again < 2)
        @violation { recover "again"; }
    }
}

/// Runs something in a thread of the standard library, of which nothing is known but what it does to shared cells.
fn in_thread(run: impl FnOnce() + Send) {
    std::thread::scope(|threads| threads.spawn(run).join().unwrap());
}

#[test]
fn a_section_without_a_lock_is_recovered_in_the_thread_that_finds_it() {
    static X: Shared<u32> = Shared::new(0);
    static Y: Lock<u32> = Lock::new(0);
    static LEFT: Mutex<Vec<String>> = Mutex::new(Vec::new());
    foresee::on_violation("leave", |verdict| {
        assert_eq!((verdict.property, verdict.category), ("Sections", "violation"));
        // What it does to cells is a step like any other, and does not come back here.
        X.set(7);
        LEFT.lock().unwrap().push(verdict.thread.to_owned());
    });
    let section = || {
        foresee::local!(critical = true);
        X.set(X.get() + 1);
        foresee::local!(critical = false);
    };
    let locked = || {
        let mut y = Y.lock();
        foresee::local!(critical = true);
        *y += 1;
        foresee::local!(critical = false);
    };
    in_thread(locked);
    in_thread(locked);
    assert_eq!((sections::MONITOR.violations(), *Y.lock()), (0, 2));
    in_thread(section);
    assert_eq!(sections::MONITOR.violations(), 0, "nobody else was inside");
    let second = std::thread::Builder::new().name("second".into());
    second.spawn(section).unwrap().join().unwrap();
    assert_eq!(*LEFT.lock().unwrap(), ["second"]);
    // Found at the read, so the write came after the recovery.
    assert_eq!((sections::MONITOR.violations(), X.get()), (1, 2));
}

#[test]
fn forks_joins_and_ends_carry_knowledge_and_named_cells_are_seen() {
    static CELL: Shared<i32> = Shared::named("ORDERED", 3);
    CELL.set(4);
    foresee::spawn(|| CELL.set(5)).join().unwrap();
    CELL.set(6);
    assert_eq!(ordered::MONITOR.violations(), 0, "ordered by fork, end and join");
    in_thread(|| CELL.set(7));
    assert_eq!(ordered::MONITOR.violations(), 1, "by nothing");
    CELL.update(|cell| *cell = 2);
    assert!(ordered::MONITOR.violations() >= 2);
}

#[test]
fn a_cell_that_begins_otherwise_than_properties_say_is_told() {
    const NAME: &str = "a_cell_that_begins_otherwise_than_properties_say_is_told";
    if std::env::var_os("IS_CHILD").is_some() {
        static CELL: Shared<i32> = Shared::named("ORDERED", 4);
        return CELL.set(3);
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", NAME, "--nocapture"]).env("IS_CHILD", "1").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`ORDERED` is 4 at first, and properties take it for 3"), "{told}");
}

#[test]
fn threads_are_known_by_their_names() {
    static CELL: Shared<()> = Shared::new(());
    let (tell, hear) = channel::<()>();
    let boss = foresee::spawn_named("boss", move || {
        let worker = |name: &str, value: i32| {
            foresee::spawn_named(name, move || {
                foresee::local!(done = value);
                CELL.set(());
                std::thread::sleep(Duration::from_millis(1));
            })
        };
        let other = worker("other", 2).unwrap();
        while !other.is_finished() {}
        CELL.get();
        assert_eq!(workers::MONITOR.violations(), 0);
        let one = worker("worker-1", 2).unwrap();
        while !one.is_finished() {}
        CELL.get();
        tell.send(()).unwrap();
    });
    hear.recv().unwrap();
    boss.unwrap().join().unwrap();
    assert_eq!(workers::MONITOR.violations(), 1);
}

#[test]
fn a_recovery_may_panic_or_violate_again() {
    foresee::on_violation("panics", |_| panic!("no way out"));
    foresee::local!(panics = true);
    foresee::local!(panics = false);
    foresee::local!(panics = true);
    assert_eq!(panics::MONITOR.violations(), 2);
    static CALLS: Mutex<u32> = Mutex::new(0);
    foresee::on_violation("again", |_| {
        *CALLS.lock().unwrap() += 1;
        // The second body is violated while the first is recovered from: that is handled when this is through.
        foresee::local!(again = 2);
    });
    foresee::local!(again = 1);
    assert_eq!((again::MONITOR.violations(), *CALLS.lock().unwrap()), (2, 2));
}

/// So many threads use the same cells and the same lock, so often: the sum of the cells, and what the lock has.
fn at_once(threads: usize, rounds: usize) -> (u64, u64) {
    let (total, cells) = (Arc::new(Lock::new(0_u64)), Arc::new([const { Shared::new(0_u64) }; 4]));
    let threads: Vec<_> = (0..threads)
        .map(|number| {
            let (total, cells) = (Arc::clone(&total), Arc::clone(&cells));
            foresee::spawn(move || {
                for round in 0..rounds {
                    cells[(number + round) % 4].update(|cell| *cell += 1);
                    let mut total = total.lock();
                    foresee::local!(critical = true);
                    *total += 1;
                    foresee::local!(critical = false);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let total = *total.lock();
    (cells.iter().map(Shared::get).sum(), total)
}

#[test]
fn many_threads_at_once() {
    assert_eq!(at_once(8, 2_000), (16_000, 16_000));
}

#[test]
fn a_notify_orders_what_follows_the_wait() {
    static IS_TOLD: Lock<bool> = Lock::new(false);
    static CHANGED: Condition = Condition::new();
    static WAITS: Mutex<u32> = Mutex::new(0);
    let waiter = foresee::spawn_named("waiter", || {
        let mut is_told = IS_TOLD.lock();
        while !*is_told {
            *WAITS.lock().unwrap() += 1;
            is_told = CHANGED.wait(is_told);
        }
        drop(is_told);
        assert_eq!(waits::MONITOR.violations(), 1, "it knows of the notifier now");
    });
    let notifier = foresee::spawn_named("notifier", || {
        while *WAITS.lock().unwrap() == 0 {
            std::thread::yield_now();
        }
        *IS_TOLD.lock() = true;
        // Nothing but the notify tells of this.
        foresee::local!(told = 1);
        CHANGED.notify_all();
    });
    waiter.unwrap().join().unwrap();
    notifier.unwrap().join().unwrap();
}

#[test]
fn readers_of_a_lock_know_of_writers_and_not_of_each_other() {
    static LOCK: RwLock<u32> = RwLock::new(0);
    let reads = || {
        let value = *LOCK.read();
        foresee::local!(reads = true);
        assert_eq!(*LOCK.read(), value);
    };
    in_thread(reads);
    in_thread(reads);
    assert_eq!(readers::MONITOR.violations(), 0, "two readers");
    in_thread(|| {
        *LOCK.write() += 1;
        foresee::local!(reads = true);
    });
    assert_eq!(readers::MONITOR.violations(), 1, "a writer knows of both readers");
}

#[test]
fn sixty_four_threads() {
    assert_eq!(at_once(64, 50), (3_200, 3_200));
}
