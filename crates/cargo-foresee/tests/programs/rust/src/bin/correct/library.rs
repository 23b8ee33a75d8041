//! What one thread changes under a lock, another sees under the lock, by code of the library that comes compiled: it reads what it
//! formats, searches and copies, and changes what grows. Who has seen the change may read what was written before it.

use std::fmt::{Debug, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("numbers", numbers),
    ("texts", texts),
    ("structures", structures),
    ("written_to", written_to),
    ("printed", printed),
    ("others", others),
    ("copies", copies),
    ("searches", searches),
    ("room", room),
    ("clocks", clocks),
];

/// One thread changes a state, the other waits until it sees that.
fn published<T: Send>(state: T, change: fn(&mut T), is_seen: fn(&mut T) -> bool) {
    let (value, state) = (Plain::new(0), Mutex::new(state));
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            change(&mut state.lock().unwrap());
        });
        scope.spawn(|| {
            while !is_seen(&mut state.lock().unwrap()) {
                thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(value.get(), 1);
        });
    });
}

fn numbers() {
    published(0_u64, |state| *state = 7, |state| format!("{state}").as_bytes()[0] == b'7');
    published(0_i8, |state| *state = -7, |state| format!("{state:?}").len() == 2);
    published(0_u16, |state| *state = 700, |state| format!("{state:#x}").len() == 5);
    published(0_i128, |state| *state = 700, |state| state.to_string().len() == 3);
    published(0_u32, |state| *state = 8, |state| format!("{state:b}").len() == 4);
    published(0_usize, |state| *state = 123, |state| format!("{state:e}").len() == 6);
    published(0.5_f64, |state| *state = 1.25, |state| format!("{state}").len() == 4);
    published(0.5_f32, |state| *state = 1.25, |state| format!("{state:.1e}").len() == 5);
    published(false, |state| *state = true, |state| format!("{state}").len() == 4);
    published('a', |state| *state = 'ä', |state| format!("{state}").len() == 2);
    published('a', |state| *state = '\n', |state| format!("{state:?}").len() == 4);
}

fn texts() {
    let text = || String::from("no");
    published(text(), |state| state.make_ascii_uppercase(), |state| format!("{state}").as_bytes()[0] == b'N');
    published(text(), |state| state.push('\n'), |state| format!("{state:?}").len() == 6);
    published(*b"no", |state| *state = *b"\0o", |state| {
        let text = std::str::from_utf8(state).unwrap();
        format!("{text:?}").len() == 5
    });
    published(text(), |state| state.make_ascii_uppercase(), |state| {
        format!("{:>4}", state.as_str()).as_bytes()[2] == b'N'
    });
}

#[derive(Debug)]
struct Fields {
    #[allow(dead_code)]
    number: u32,
    #[allow(dead_code)]
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Nothing,
    #[allow(dead_code)]
    Pair(u8, Option<IpAddr>),
}

fn length(of: &impl Debug) -> usize {
    format!("{of:?}").len()
}

fn structures() {
    let fields = || Fields { number: 1, inner: Inner::Nothing };
    published(fields(), |state| state.number = 1000, |state| length(state) == 39);
    published(fields(), |state| state.inner = Inner::Pair(3, None), |state| length(state) > 38);
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    published(Inner::Pair(1, Some(address)), |state| *state = Inner::Nothing, |state| length(state) == 7);
    published(
        Inner::Pair(1, Some(address)),
        |state| {
            if let Inner::Pair(_, Some(IpAddr::V4(address))) = state {
                *address = Ipv4Addr::UNSPECIFIED;
            }
        },
        |state| length(state) == 22,
    );
    published(vec![1_u8, 2], |state| state[0] = 100, |state| length(state) == 8);
    published((1_u8, "a"), |state| state.0 = 100, |state| length(state) == 10);
}

/// A text that grows by what is formatted into it.
fn written_to() {
    published(
        (String::new(), 3_u8),
        |(text, number)| write!(text, "{number}").unwrap(),
        |(text, _)| !text.is_empty(),
    );
}

/// Here the other thread sees it in what is printed to a pipe in memory.
fn printed() {
    use std::io::Write as _;
    published(
        3_u8,
        |state| *state = 33,
        |state| {
            let mut printed = Vec::new();
            write!(printed, "{state}").unwrap();
            printed.len() == 2
        },
    );
}

/// Formatted and parsed by functions that nobody records: their threads keep their order.
fn others() {
    published(
        IpAddr::V4(Ipv4Addr::LOCALHOST),
        |state| *state = IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        |state| format!("{state}").len() == 7,
    );
    published(Duration::from_secs(1), |state| *state *= 10, |state| format!("{state:?}").len() == 3);
    published(
        String::from("2.5"),
        |state| state.replace_range(0..1, "3"),
        |state| state.parse::<f64>().unwrap() > 3.0,
    );
    published(
        String::from("1.1.1.1"),
        |state| state.replace_range(0..1, "3"),
        |state| state.parse::<Ipv4Addr>().unwrap() > Ipv4Addr::new(2, 0, 0, 0),
    );
    published(
        "x".parse::<u8>().unwrap_err(),
        |state| *state = "".parse::<u8>().unwrap_err(),
        |state| state.to_string().contains("empty"),
    );
    published(std::sync::atomic::AtomicU8::new(1), |state| *state.get_mut() = 100, |state| length(state) == 3);
}

fn copies() {
    let text = || String::from("a text that is copied");
    published(text(), |state| state.make_ascii_uppercase(), |state| state.clone().as_bytes()[0] == b'A');
    published(vec![text()], |state| state[0].truncate(1), |state| state.clone()[0].len() == 1);
    published(text(), |state| state.make_ascii_uppercase(), |state| {
        String::from_utf8_lossy(state.as_bytes()).into_owned().as_bytes()[0] == b'A'
    });
    published(text(), |state| state.push('ß'), |state| state.to_uppercase().ends_with("SS"));
    published(text(), |state| state.push('A'), |state| state.to_lowercase().ends_with("aa") || state.len() > 21);
}

fn searches() {
    let long = "a text that is searched for, and long enough for a search by blocks; it ends in";
    published(String::from(long), |state| state.push_str(" b"), |state| state.contains("in b"));
    published(String::from(long), |state| state.make_ascii_uppercase(), |state| state.find('I').is_some());
    published(String::from("zz"), |state| state.make_ascii_uppercase(), |state| {
        "a text in which ZZ is searched for, with many other letters".contains(state.as_str())
    });
    published(*b"\xff long enough to be looked at by words of eight bytes", |state| state[0] = b'a', |state| {
        std::str::from_utf8(state).is_ok()
    });
}

/// A vector that grows changes by more than its length.
fn room() {
    published(Vec::<String>::new(), |state| state.push(String::new()), |state| state.capacity() > 0);
    published(Vec::<u8>::new(), |state| state.push(1), |state| state.capacity() > 0);
    published(String::new(), |state| state.push_str("abc"), |state| state.capacity() > 0);
    published(Vec::<String>::new(), |state| state.reserve(100), |state| state.capacity() > 0);
}

fn clocks() {
    let start = Instant::now();
    published(start, |state| *state += Duration::from_secs(1000), |state| state.elapsed().is_zero());
    published(
        (start, start),
        |state| state.1 += Duration::from_secs(1000),
        |state| state.1.duration_since(state.0) > Duration::from_secs(999),
    );
}
