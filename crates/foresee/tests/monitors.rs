//! Monitors in the program, as users write them.

#![forbid(unsafe_code)]
#![allow(missing_docs)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use foresee::Life;
use foresee::attr::event;

foresee::monitor! {
    /// A collection does not change under its iterators.
    property UnsafeIterator(c, i) {
        event create(c, i);
        event update(c);
        event next(i);
        ere: create next* update+ next
        @match { report "{c} changed under {i}"; }
    }
}

#[test]
fn a_property_is_functions_by_name() {
    let (list, first, second) = (Life::new(), Life::new(), Life::new());
    let matches = || unsafe_iterator::MONITOR.count("match");
    unsafe_iterator::create(list.id(), first.id());
    unsafe_iterator::next(first.id());
    unsafe_iterator::update(list.id());
    unsafe_iterator::create(list.id(), second.id());
    unsafe_iterator::next(second.id());
    assert_eq!((matches(), unsafe_iterator::MONITOR.instances()), (0, 2));
    unsafe_iterator::next(first.id());
    assert_eq!(matches(), 1);
    drop((list, first, second));
    assert_eq!(unsafe_iterator::MONITOR.instances(), 0, "dead objects are forgotten");
}

/// Everything the language has: keywords as names, guards, variables, several bodies, categories that are no names.
mod language {
    foresee::monitor! {
        property HTTPServer(type) {
            event match(type);
            event sized(type, size) when size > 2 * 8 && size != -1;
            ere first: ~(epsilon) & (match | sized)*
            fsm second: closed [ match -> open ] open [ default -> open ]
            @first@match { count; }
            @first@? { count; }
            @second@open { count; }
        }

        suffix property Twice(o) {
            event twice(o);
            ere: twice twice
            @match { count; }
        }

        property Landing {
            var LANDING, height: int = 100;
            event landed;
            ptltl: LANDING == 1 -> height < 10 && !landed
            @violation { count; }
        }
    }
}

#[test]
fn the_language_is_all_there() {
    language::http_server::r#match(1);
    language::http_server::sized(1, 16);
    assert_eq!(language::http_server::MONITOR.count("open"), 1);
    language::http_server::sized(1, 17);
    let counts = language::http_server::MONITOR.counts();
    let of = |body, category| {
        counts.iter().find(|count| count.body == Some(body) && count.category == category).unwrap().count
    };
    assert_eq!((of("first", "match"), of("second", "open")), (2, 2));
    (0..4).for_each(|_| language::twice::twice("text"));
    assert_eq!(language::twice::MONITOR.count("match"), 3);
    language::landing::set_height(11);
    assert_eq!(language::landing::MONITOR.count("violation"), 0);
    language::landing::set_landing(true);
    language::landing::set_height(5_u8);
    assert_eq!(language::landing::MONITOR.count("violation"), 1);
    language::landing::landed();
    assert_eq!(language::landing::MONITOR.count("violation"), 2);
}

// The interval `[p, q)` has brackets that are no pair in Rust.
foresee::monitor!(
    r#"property Approval {
        event land; event approve; event radio_off;
        ptltl: land -> [approve, radio_off)
        @violation { count; }
    }"#
);

#[test]
fn specs_can_be_strings() {
    approval::approve();
    approval::land();
    approval::radio_off();
    approval::land();
    assert_eq!(approval::MONITOR.count("violation"), 1);
}

/// The library of properties, all of it.
mod library {
    pub(crate) mod access {
        foresee::include_spec!("../../../specs/access.rv");
    }
    pub(crate) mod calls {
        foresee::include_spec!("../../../specs/calls.rv");
    }
    pub(crate) mod channels {
        foresee::include_spec!("../../../specs/channels.rv");
    }
    pub(crate) mod conditions {
        foresee::include_spec!("../../../specs/conditions.rv");
    }
    pub(crate) mod counting {
        foresee::include_spec!("../../../specs/counting.rv");
    }
    pub(crate) mod files {
        foresee::include_spec!("../../../specs/files.rv");
    }
    pub(crate) mod init {
        foresee::include_spec!("../../../specs/init.rv");
    }
    pub(crate) mod iterators {
        foresee::include_spec!("../../../specs/iterators.rv");
    }
    pub(crate) mod locks {
        foresee::include_spec!("../../../specs/locks.rv");
    }
    pub(crate) mod memory {
        foresee::include_spec!("../../../specs/memory.rv");
    }
    pub(crate) mod sockets {
        foresee::include_spec!("../../../specs/sockets.rv");
    }
    pub(crate) mod threads {
        foresee::include_spec!("../../../specs/threads.rv");
    }
    pub(crate) mod transactions {
        foresee::include_spec!("../../../specs/transactions.rv");
    }
}

#[test]
fn the_library_is_all_of_the_files() {
    let here = include_str!("monitors.rs");
    for file in std::fs::read_dir("../../specs").unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".rv") || here.contains(&format!("specs/{name}\"")), "{name} is missing");
    }
    let stack = Life::new();
    library::iterators::stack_underflow::stack_push(stack.id());
    library::iterators::stack_underflow::stack_pop(stack.id());
    assert_eq!(library::iterators::stack_underflow::MONITOR.count("fail"), 0);
    library::iterators::stack_underflow::stack_pop(stack.id());
    assert_eq!(library::iterators::stack_underflow::MONITOR.count("fail"), 1);
}

foresee::monitor! {
    property OpenBeforeRead(f) {
        event opened(f);
        event read_from(f, length);
        ltl: [](read_from -> <*> opened)
        @violation { call "read unopened"; reset; }
    }
}

struct File {
    at: Box<u64>,
}

impl File {
    #[event(opened(&*result.as_ref().unwrap().at))]
    fn open(name: &str) -> Result<File, std::num::ParseIntError> {
        let at = name.parse()?;
        if at == 7 {
            return Ok(File { at: Box::new(8) });
        }
        Ok(File { at: Box::new(at) })
    }

    #[event(read_from(&*self.at, length))]
    fn read(&mut self, length: usize) -> u64 {
        *self.at += length as u64;
        *self.at
    }
}

#[test]
fn events_by_name_reach_monitors() {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    foresee::on("read unopened", |verdict| {
        assert_eq!((verdict.property, verdict.category), ("OpenBeforeRead", "violation"));
        assert_eq!(verdict.location.file(), file!());
        assert_eq!(verdict.thread, "events_by_name_reach_monitors");
        assert!(verdict.value("f").is_some() && verdict.value("g").is_none());
        SEEN.fetch_add(1, Ordering::Relaxed);
    });
    let mut file = File::open("7").unwrap();
    assert_eq!(file.read(2), 10);
    assert_eq!(SEEN.load(Ordering::Relaxed), 0);
    let other = 5_u32;
    foresee::event!(read_from, file = &other, length = 3);
    assert_eq!(SEEN.load(Ordering::Relaxed), 1);
}

foresee::monitor! {
    property Panics {
        event does_panic;
        ere: does_panic+
        @match { call "panic"; call "nobody"; count; }
    }

    property Nested {
        event outer;
        event inner;
        ere: outer inner
        @match { call "outer"; reset; }
        @fail { call "fails"; reset; }
    }
}

#[test]
fn a_handler_that_panics_is_not_called_again() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    foresee::on("panic", |_| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        panic!("a handler of the tests panics, as it should");
    });
    (0..5).for_each(|_| panics::does_panic());
    assert_eq!((CALLS.load(Ordering::Relaxed), panics::MONITOR.count("match")), (1, 5));
}

#[test]
fn handlers_do_events() {
    static ORDER: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    foresee::on("outer", |_| {
        ORDER.lock().unwrap().push("begin");
        nested::inner();
        ORDER.lock().unwrap().push("end");
    });
    foresee::on("fails", |_| ORDER.lock().unwrap().push("fails"));
    nested::outer();
    nested::inner();
    assert_eq!(*ORDER.lock().unwrap(), ["begin", "end", "fails"]);
}

foresee::monitor! {
    property Counted {
        event counted;
        ere: counted+
        @match { count; }
    }
}

#[test]
fn counts_are_there_for_the_program() {
    counted::counted();
    counted::counted();
    let counts = foresee::counts();
    let count = counts.iter().find(|count| count.property == "Counted").unwrap();
    assert_eq!((count.body, count.category, count.count), (None, "match", 2));
}

/// What instances remember, other names for an event, and rewriting.
mod remembering {
    foresee::monitor! {
        property AtMostTwo(pool) {
            state taken: int = 0;
            event over(pool) = take(pool, _) when taken >= 2;
            event take(pool, by) when taken < 2 { taken += 1; }
            event give(pool) { taken -= 1; }
            ere: (take | give)* over
            @match { count; reset; }
        }

        property Order(a, b) {
            event outer(a) = lock_taken(a);
            event inner(b) = lock_taken(b) when b < a;
            ere: outer inner
            @match { count; }
        }

        property Asked(i) {
            event asked(i);
            event next(i);
            srs: asked asked -> asked . asked next -> #epsilon . ^ next -> #fail .
            @fail { count; }
        }
    }

    #[test]
    fn one_event_by_name_is_several_of_a_property() {
        foresee::event!(lock_taken, 3);
        foresee::event!(lock_taken, 4);
        assert_eq!(order::MONITOR.count("match"), 0);
        foresee::event!(lock_taken, 2);
        assert!(order::MONITOR.count("match") > 0);
    }

    #[test]
    fn instances_in_a_program_remember_values() {
        let take = |pool: i64| {
            at_most_two::over(pool, 1);
            at_most_two::take(pool, 1);
        };
        [1, 1, 2].into_iter().for_each(take);
        at_most_two::give(1);
        take(1);
        assert_eq!(at_most_two::MONITOR.count("match"), 0);
        take(1);
        assert_eq!(at_most_two::MONITOR.count("match"), 1);
        asked::asked(7);
        asked::asked(7);
        asked::next(7);
        assert_eq!(asked::MONITOR.count("fail"), 0);
        asked::next(7);
        assert_eq!(asked::MONITOR.count("fail"), 1);
    }
}
