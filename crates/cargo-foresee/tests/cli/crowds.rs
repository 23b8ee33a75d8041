//! Many clients of an observer, some of which mean no good: what they get together, and how long.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::observe::{Observer, assign, hello, say};
use crate::support::Folder;

/// Threads that know nothing of each other: a lattice that nobody explores to the end.
fn endless(name: &str) -> String {
    const THREADS: u32 = 8;
    let steps = (0..THREADS * 60).map(|number| {
        let thread = number % THREADS;
        assign(number, thread, &[(thread, number / THREADS + 1)], 1, i64::from(number))
    });
    std::iter::once(hello(name)).chain(steps).collect()
}

/// Says all that, and goes once it has been welcomed.
fn say_and_go(folder: &Folder, lines: &str) {
    let mut answer = String::new();
    BufReader::new(say(folder, lines)).read_line(&mut answer).unwrap();
    assert!(answer.contains("welcome"), "{answer}");
}

/// What the kernel says of the observer under this name, in kilobytes.
fn status(observer: &Observer, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", observer.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// How much processor time the observer has used.
fn used(observer: &Observer) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", observer.process.id())).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

#[test]
fn nobody_works_for_a_client_that_is_gone() {
    let folder = Folder::new();
    let mut observer = Observer::start(&folder, &["--exit-after", "2"]);
    say_and_go(&folder, &endless("rude"));
    let told = observer.until("rude was dropped: it disconnected before the end of the program");
    assert!(told.contains("not all runs that hb allows"), "{told}");
    // Levels that are begun are finished.
    let rude = used(&observer);
    assert!(rude < Duration::from_secs(10), "{rude:?}");
    let begun = Instant::now();
    say_and_go(&folder, &(endless("polite") + "{\"ended\":{\"messages\":[480]}}\n"));
    let told = observer.until("polite has ended");
    assert!(told.contains("not all runs that hb allows"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    observer.end();
}

#[test]
fn a_client_that_is_gone_has_not_shown_all_runs() {
    let folder = Folder::new();
    let mut observer = Observer::start(&folder, &["--exit-after", "2"]);
    let few = hello("gone") + &assign(0, 1, &[(1, 1)], 1, 1);
    say_and_go(&folder, &few);
    assert!(observer.until("gone was dropped").contains("not all runs that hb allows"));
    say_and_go(&folder, &(few.replace("gone", "there") + "{\"ended\":{\"messages\":[1]}}\n"));
    assert!(observer.until("there has ended").contains(", all runs that hb allows"));
    observer.end();
}

#[test]
fn all_programs_together_have_one_memory() {
    let folder = Folder::new();
    let observer = Observer::start(&folder, &["--memory", "64M"]);
    let before = status(&observer, "VmRSS:");
    let clients: Vec<UnixStream> =
        (0..12).map(|number| say(&folder, &endless(&format!("p{number}")))).collect();
    std::thread::sleep(Duration::from_secs(8));
    let most = status(&observer, "VmHWM:");
    assert!(most - before < 128 << 10, "{before} kB before, {most} kB with all programs");
    drop(clients);
    observer.interrupt();
    observer.end();
}

#[test]
fn those_who_do_not_say_who_they_are_lock_nobody_out() {
    let folder = Folder::new();
    let mut observer = Observer::start(&folder, &["--exit-after", "1"]);
    let idle: Vec<UnixStream> = (0..400).map(|_| say(&folder, "")).collect();
    let begun = Instant::now();
    let mut program = say(&folder, &hello("program"));
    let mut answer = String::new();
    BufReader::new(program.try_clone().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("welcome"), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    program.write_all(b"{\"ended\":{\"messages\":[0]}}\n").unwrap();
    observer.until("program has ended");
    drop(idle);
    observer.end();
}

/// Clients that say too much, too little, too slowly, or everything in the wrong order: an honest one in between does not notice.
#[test]
fn disorder_harms_nobody_else() {
    let folder = Folder::new();
    let mut observer = Observer::start(&folder, &["--exit-after", "100"]);
    let ended = |messages: u64| format!("{{\"ended\":{{\"messages\":[{messages}]}}}}\n");
    let deep = format!("{{\"relevant\":{}", "[".repeat(60_000));
    let lines = [
        hello("deep") + &deep + "\n",
        hello("huge") + &ended(u64::MAX),
        hello("negative") + "{\"ended\":{\"messages\":[-1]}}\n",
        hello("early") + &ended(0) + &assign(0, 1, &[(1, 1)], 0, 1),
        hello("twice") + &hello("twice") + &hello("thrice"),
        hello("far") + &assign(4_000_000_000, 1, &[(1, 1)], 0, 1),
        hello("many") + &assign(0, 1, &vec![(7, 7); 4000], 0, 1),
        hello("strange") + "{\"relevant\":{\"property\":99}}\n\u{0}\n",
        "\n\n\n".to_owned(),
        hello("none") + "\n",
        ended(1) + &hello("late"),
    ];
    // One of them says a byte now and then.
    let mut slow = say(&folder, &hello("slow"));
    let honest = std::thread::scope(|scope| {
        for line in &lines {
            scope.spawn(|| {
                for _ in 0..8 {
                    let half = line.len() / 2;
                    drop(say(&folder, &line[..half]));
                    let _ = say(&folder, line).shutdown(std::net::Shutdown::Write);
                }
            });
        }
        let mut honest = say(&folder, &hello("honest"));
        honest.write_all(assign(0, 1, &[(1, 1)], 1, 1).as_bytes()).unwrap();
        for byte in &ended(1).as_bytes()[..10] {
            let _ = slow.write_all(&[*byte]);
            std::thread::sleep(Duration::from_millis(50));
        }
        honest.write_all(ended(1).as_bytes()).unwrap();
        honest
    });
    let told = observer.until("honest has ended");
    assert!(told.lines().last().unwrap().contains("1 relevant events"), "{told}");
    assert!(!told.contains("panicked"), "{told}");
    drop(honest);
    observer.interrupt();
    let (code, _, rest) = observer.end();
    assert!(code == Some(0) && !rest.contains("panicked"), "{code:?} {rest}");
}
