//! Reading what the field writes, reading back what we write, and refusing everything else in good order.

use proptest::prelude::*;

use super::{TextReader, TextWriter};
use crate::event::{Arg, Event, Mem, Mode, Op, Order, bits, signed};
use crate::flat::{Flat, Payload, Target};
use crate::ids::{LocId, LockId, StrId, ThreadId};
use crate::names::Names;
use crate::{EventSink, EventSource, Facts, TraceError, Trust};

/// The text of a trace, read and written again.
fn rewritten(text: &[u8]) -> Result<String, TraceError> {
    let mut source = TextReader::new(text);
    let mut out = Vec::new();
    let mut sink = TextWriter::new(&mut out, source.facts());
    while source.advance()? {
        sink.push(source.names(), &source.event())?;
    }
    sink.finish(source.names(), &source.trust())?;
    Ok(String::from_utf8(out).unwrap())
}

/// Everything about an event in names instead of ids.
fn described(names: &Names, event: &Event<'_>) -> String {
    let (flat, payload) = Flat::of(&event.op);
    let id = flat.target as u32;
    let target = match flat.kind.target() {
        Target::Nothing => String::new(),
        Target::Memory => names.mem_text(Mem { addr: flat.target, size: flat.size }),
        Target::Lock => names.lock_name(LockId(id)).to_owned(),
        Target::Thread => names.thread_name(ThreadId(id)).to_owned(),
        Target::String => names.str(StrId(id)).to_owned(),
    };
    let payload = match payload {
        Payload::Args(args) => args.iter().fold(String::new(), |text, arg| match arg {
            Arg::Str(string) => format!("{text} {:?}", names.str(*string)),
            other => format!("{text} {other:?}"),
        }),
        other => format!("{other:?}"),
    };
    let thread = names.thread_name(event.thread);
    let (kind, modifier, size) = (flat.kind, flat.modifier, flat.size);
    format!("{thread:?} {kind:?} {modifier} {size} {target:?} {payload} {:?}", names.location_text(event.loc))
}

fn descriptions(text: &str) -> Vec<String> {
    let mut source = TextReader::new(text.as_bytes());
    let mut all = Vec::new();
    while source.advance().unwrap() {
        all.push(described(source.names(), &source.event()));
    }
    all
}

fn error(text: &str) -> String {
    rewritten(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn traces_of_the_field_come_back_as_they_were() {
    let account = include_str!("../../tests/data/account.std");
    assert_eq!(rewritten(account.as_bytes()).unwrap(), account);
    // This one names its threads `T9` and forks `9`.
    let apache = include_str!("../../tests/data/apache_42031_dlf.std");
    let expected = apache.replace("fork(", "fork(T").replace("join(", "join(T");
    assert_eq!(rewritten(apache.as_bytes()).unwrap(), expected);
    let odd = "T0|r(V123.45[0])|345\nmain thread|acq(java.lang.Object@1f(x))|C:\\new\\u:3\n#7|begin(a,b)\n7|fork(9)\n9|req(l)|0\n";
    assert_eq!(rewritten(odd.as_bytes()).unwrap(), odd);
}

#[test]
fn what_differs_in_form_only_is_read_alike() {
    let plain = descriptions("T1|begin\nT1|fork(T2)|3\nT2|r(x)|4\nT1|end\n");
    assert_eq!(descriptions("\n# comment\nT1|begin()\r\nT1|fork(2)|3  \r\n\nT2|r(x)|4\t\nT1|end() "), plain);
    assert_eq!(descriptions("T|load(x=0xff)\n"), descriptions("T|load.seqcst(x=255)\n"));
}

#[test]
fn extended_forms_come_back_as_they_were() {
    let text = "#meta command a.out -x 1\n#meta empty \\u{}\n#var buf 0x5000 16\n#var a\\u{20}b - 1\n\
        T1|w(buf[4..8]=-7)|a.rs:3:4 in f\nT1|r([0x7ffe10..0x7ffe14])\nT1|w(a b=-1)\nT1|rmw.acqrel(x=1->2)\n\
        T1|load.consume(x)\nT1|fence.release\nT1|acq.shared(l)\nT1|rel.shared(l)\nT1|req.shared(l)\nT1|wait(c)\n\
        T1|notify.all(c)\nT1|notify(c)\nT1|thread_begin\nT1|thread_end\nT1|branch\nT1|enter(f::<a, b>())\nT1|exit\n\
        T1|call(push, -3, \"a, b)\", @12)\nT1|return(push)\nT1|commit(push)\nT1|commit_begin\nT1|commit_end(n)\n\
        T1|event(go, \"\")\nT1|local(critical=1)\nT1|alloc(buf)\nT1|free(buf[0..1])\n";
    assert_eq!(rewritten(text.as_bytes()).unwrap(), text);
}

#[test]
fn facts_are_known_before_the_first_event() {
    let source = TextReader::new("#meta host a b\n#meta x\nT|r(x)\n".as_bytes());
    assert_eq!(source.facts(), &[("host".to_owned(), "a b".to_owned()), ("x".to_owned(), String::new())]);
}

#[test]
fn equal_names_become_distinct() {
    let mut names = Names::new();
    let worker = names.intern("worker");
    let threads = [names.new_thread(worker), names.new_thread(worker)];
    let static_x = names.intern("X");
    let memory =
        [names.declare_symbol(static_x, Some(0x10), 4), names.declare_symbol(static_x, Some(0x20), 4)];
    let mut out = Vec::new();
    let mut sink = TextWriter::new(&mut out, &Facts::new());
    for (thread, mem) in threads.into_iter().zip(memory) {
        sink.push(&names, &Event { thread, loc: LocId::UNKNOWN, op: Op::Read { mem, value: None } }).unwrap();
    }
    let late = names.intern("late");
    let mem = names.declare_symbol(late, None, 2);
    let op = Op::Write { mem: Mem { size: 1, ..mem }, value: Some(200) };
    sink.push(&names, &Event { thread: threads[0], loc: LocId::UNKNOWN, op }).unwrap();
    sink.finish(&names, &Trust::whole()).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "#var X 0x10 4\n#var X#2 0x20 4\nworker|r(X)\nworker#2|r(X#2)\n#var late - 2\nworker|w(late[0..1]=-56)\n"
    );
}

#[test]
fn errors_say_where_and_what() {
    for (line, expected) in [
        ("é|acqq(x)", "line 2, column 3: expected an operation (r, w, "),
        ("é|acqq(x)", "found `acqq` (did you mean `acq`?)"),
        ("T|r(x", "column 6: expected `)`, found the end of the line"),
        ("T|r(x)y|3", "column 7: expected `|` or the end of the line after `)`, found `y`"),
        ("T|r()", "column 5: expected a variable in parentheses, found `)`"),
        ("T|acq", "column 6: expected a lock in parentheses, found the end of the line"),
        ("|r(x)", "column 1: expected a thread name, found `|`"),
        ("T", "column 1: expected a line of the form `thread|operation|location`, found `T`"),
        ("T|r(x)|3|4", "column 10: expected the end of the line"),
        ("T|load.aquire(x)", "found `aquire` (did you mean `acquire`?)"),
        ("T|r.shared(x)", "column 5: expected `(` or the end of the operation: `r` has no modifiers"),
        ("T|w(x[0..1]=256)", "column 13: expected a value that fits into 1 bytes, found `256`"),
        ("T|w(x[4..12])", "column 10: expected a byte of the 8 bytes of the variable"),
        ("T|w(x[4..4])", "column 10: expected an end after the start"),
        ("T|w(x[4..2])", "column 10: expected an end after the start"),
        ("T|w([0x4..0x20000000000000000])", "column 11: expected an address of 64 bits"),
        ("T|rmw(x=1)", "column 9: expected `read->written`"),
        ("T|branch(x)", "column 10: expected nothing in the parentheses, found `x`"),
        ("T|call()", "column 8: expected a name, found `)`"),
        ("T|call(f, )", "column 11: expected an argument"),
        ("T|call(f, \"a)", "column 11: expected a string that ends with `\"`"),
        ("T|call(f, \"a\" 1)", "column 15: expected `,` or the end of the arguments, found `1`"),
        ("T|call(f, @-1)", "column 11: expected an argument"),
        ("T|local(f)", "column 9: expected `name=value`, found `f`"),
        ("T|local(f=x)", "column 11: expected a number of 64 bits, found `x`"),
        (
            "#var used - 8",
            "column 6: expected a variable that was neither declared nor used before this line",
        ),
        ("#var x 5 8", "column 8: expected an address"),
        ("#var x - 0", "column 10: expected a size in bytes"),
        ("#var x 0xffffffffffffffff 2", "column 27: expected a size in bytes"),
        ("#meta", "column 6: expected a key"),
    ] {
        let message = error(&format!("T|r(used)\n{line}\n"));
        assert!(message.starts_with("line 2, ") && message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let message = rewritten(b"T|r(x)\nT|r(\xff)\n").unwrap_err().to_string();
    assert_eq!(message, "line 2, column 5: expected UTF-8 text, found the byte 0xff");
    let long = format!("T|r(x)\nT|r({})\n", "x".repeat(1 << 20));
    assert!(error(&long).starts_with("line 2, column 1: expected a line of at most 1048576 bytes"));
    for no_trace in
        [b"\x89PNG\r\n\x1a\n".as_slice(), b"# Title\n\nSome text.\n", b"hello", &[b'x'; 2 << 20], &[0; 99]]
    {
        let error = rewritten(no_trace).unwrap_err();
        assert!(matches!(error, TraceError::NotATrace { .. }), "{error}");
    }
    assert_eq!(rewritten(b"\n# nothing\n").unwrap(), "");
}

#[test]
fn progress_counts_bytes() {
    let mut source = TextReader::with_length("T|r(x)\nT|r(y)".as_bytes(), 13);
    assert!(source.advance().unwrap());
    assert_eq!(source.progress(), (7, Some(13)));
    assert!(source.advance().unwrap() && !source.advance().unwrap());
    assert_eq!(source.progress(), (13, Some(13)));
}

/// Names made of whatever has a meaning somewhere in a line.
fn odd_name() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "|",
        "(",
        ")",
        "\\",
        "\\u{",
        "}",
        "\\u{41}",
        "=",
        "=1",
        "=1->2",
        "[",
        "]",
        "[0..4]",
        "[0x1..0x2]",
        ",",
        " ",
        "\t",
        "\n",
        "\r",
        "\"",
        "@",
        "#",
        "#2",
        "#var",
        "T",
        "7",
        "é",
        "∀",
        "\u{feff}",
        "\0",
        ":3",
        " in ",
        "-",
        ".",
        "\u{a0}",
    ]);
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

/// An event in numbers; `event_of` makes it one of a given trace.
type Draft = (u8, usize, usize, usize, u64, u64, Vec<(u8, i64, usize)>);

fn draft() -> impl Strategy<Value = Draft> {
    let args = prop::collection::vec((0..3u8, any::<i64>(), 0..8usize), 0..4);
    (0..32u8, 0..8usize, 0..8usize, 0..9usize, any::<u64>(), any::<u64>(), args)
}

/// What the drafts choose from: one name list, used for everything.
struct World {
    names: Names,
    strings: Vec<StrId>,
    locations: Vec<LocId>,
    memory: Vec<Mem>,
}

fn world(list: &[String]) -> World {
    let mut names = Names::new();
    let strings: Vec<StrId> = list.iter().map(|name| names.intern(name)).collect();
    let mut memory = Vec::new();
    for (i, (name, &id)) in list.iter().zip(&strings).enumerate() {
        names.new_thread(id);
        names.new_lock(id);
        memory.push(match i % 3 {
            0 if !names.has_symbol(id) => names.symbol(name),
            1 => names.declare_symbol(id, Some(0x1000 * i as u64 + 0x1000), 4 + i as u32),
            _ => names.declare_symbol(id, None, 1 + i as u32),
        });
    }
    memory.push(Mem { addr: u64::MAX - 3, size: 4 });
    memory.push(Mem { addr: 0xfff, size: 9 });
    let locations = list.iter().map(|name| names.location_from_text(name)).collect();
    World { names, strings, locations, memory }
}

fn event_of<'a>(world: &World, draft: &Draft, args: &'a mut Vec<Arg>) -> Event<'a> {
    let &(kind, who, what, part, one, two, ref drafts) = draft;
    let count = world.strings.len();
    let string = |i: usize| world.strings[i % count];
    args.extend(drafts.iter().map(|&(kind, number, i)| match kind {
        0 => Arg::Int(number),
        1 => Arg::Str(string(i)),
        _ => Arg::Object(number as u64),
    }));
    let args = args.as_slice();
    let all = world.memory[what % world.memory.len()];
    let mem = if part == 0 && all.size > 1 { Mem { addr: all.addr + 1, size: all.size - 1 } } else { all };
    let fit = |value: u64| bits(signed(value, mem.size), mem.size);
    let value = (part % 2 == 0).then(|| fit(one));
    let order = Order::ALL[part % 6];
    let mode = if part % 2 == 0 { Mode::Exclusive } else { Mode::Shared };
    let tried = part % 3 == 0;
    let (lock, cond) = (LockId((what % count) as u32), LockId((what % count) as u32));
    let (child, name, function) = (ThreadId((what % count) as u32), string(what), string(what));
    let op = match kind {
        0 => Op::Read { mem, value },
        1 => Op::Write { mem, value },
        2 => Op::Load { mem, order, value },
        3 => Op::Store { mem, order, value },
        4 => Op::Rmw { mem, order, values: value.map(|value| (value, fit(two))) },
        5 => Op::Fence { order },
        6 => Op::Request { lock, mode },
        7 => Op::Acquire { lock, mode, tried },
        8 => Op::Release { lock, mode },
        9 => Op::Fork { child },
        10 => Op::Join { child },
        11 => Op::ThreadBegin,
        12 => Op::ThreadEnd,
        13 => Op::Wait { cond, timed: false },
        14 => Op::Notify { cond, all: part % 2 == 0 },
        15 => Op::Branch,
        16 => Op::Enter { function },
        17 => Op::Exit { function },
        18 => Op::BlockBegin { name },
        19 => Op::BlockEnd { name },
        20 => Op::Call { name, args },
        21 => Op::Return { name, args },
        22 => Op::Commit { name },
        23 => Op::CommitBegin { name },
        24 => Op::CommitEnd { name },
        25 => Op::Named { name, args },
        26 => Op::Local { name, value: one },
        27 => Op::Alloc { mem },
        28 => Op::Free { mem },
        29 => Op::From { mem },
        30 => Op::Constant,
        31 => Op::Blind { code: name, orders: part % 2 == 0 },
        32 => Op::Arguments { function, args },
        _ => Op::Result { function, args },
    };
    Event { thread: ThreadId((who % count) as u32), loc: world.locations[part % count], op }
}

fn written(world: &World, drafts: &[Draft], facts: &Facts) -> (String, Vec<String>) {
    let mut out = Vec::new();
    let mut all = Vec::new();
    let mut sink = TextWriter::new(&mut out, facts);
    for draft in drafts {
        let mut args = Vec::new();
        let event = event_of(world, draft, &mut args);
        sink.push(&world.names, &event).unwrap();
        all.push(described(&world.names, &event));
    }
    sink.finish(&world.names, &Trust::whole()).unwrap();
    (String::from_utf8(out).unwrap(), all)
}

proptest! {
    #[test]
    fn every_event_comes_back(
        list in prop::collection::hash_set(odd_name(), 1..8),
        drafts in prop::collection::vec(draft(), 1..20),
        facts in prop::collection::vec((odd_name(), odd_name()), 0..3),
    ) {
        let world = world(&list.into_iter().collect::<Vec<_>>());
        let (text, events) = written(&world, &drafts, &facts);
        let source = TextReader::new(text.as_bytes());
        prop_assert_eq!(source.facts(), &facts);
        prop_assert_eq!(descriptions(&text), events, "{}", text);
        prop_assert_eq!(rewritten(text.as_bytes()).unwrap(), text);
    }

    #[test]
    fn equal_names_change_once(
        list in prop::collection::vec(odd_name(), 1..4),
        drafts in prop::collection::vec(draft(), 1..20),
    ) {
        let doubled: Vec<String> = list.iter().chain(&list).cloned().collect();
        let (text, events) = written(&world(&doubled), &drafts, &Facts::new());
        prop_assert_eq!(rewritten(text.as_bytes()).unwrap(), text.clone());
        prop_assert_eq!(descriptions(&text).len(), events.len());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = rewritten(&bytes);
    }

    #[test]
    fn damaged_lines_are_read_or_refused_where_they_are(
        list in prop::collection::vec(odd_name(), 1..4),
        drafts in prop::collection::vec(draft(), 1..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..6),
    ) {
        let mut bytes = written(&world(&list), &drafts, &Facts::new()).0.into_bytes();
        for (at, byte, change) in changes {
            let at = at.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            match change {
                0 => bytes.insert(at, b"|()[]=,.\"@#\\ -0"[usize::from(byte) % 15]),
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes[at] = byte,
            }
        }
        match rewritten(&bytes) {
            Ok(text) => prop_assert_eq!(rewritten(text.as_bytes()).unwrap(), text),
            Err(TraceError::Text { line, column, .. }) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let at_fault = text.split('\n').nth(line as usize - 1).expect("the line exists");
                prop_assert!(column >= 1 && column <= at_fault.chars().count() as u64 + 1);
            }
            Err(error) => prop_assert!(matches!(error, TraceError::NotATrace { .. }), "{}", error),
        }
    }
}

#[test]
fn times_are_those_of_what_follows() {
    let times = |text: &str| {
        let mut reader = TextReader::new(text.as_bytes());
        let mut times = Vec::new();
        while reader.advance()? {
            times.push(reader.time());
        }
        Ok::<_, TraceError>(times)
    };
    let text =
        "T1|branch\n#time 1.5\nT1|branch\nT2|branch\n#time 1.500000001\nT1|branch\n#time 3\nT1|branch\n";
    let (half, next) = (Some(1_500_000_000), Some(1_500_000_001));
    assert_eq!(times(text).unwrap(), [None, half, half, next, Some(3_000_000_000)]);
    for wrong in ["", " ", "x", "-1", "1.", ".5", "1.0000000000", "99999999999", "1 2"] {
        let text = format!("#time {wrong}\nT1|branch\n");
        assert!(times(&text).is_err(), "{wrong}");
    }
    let back = times("#time 2\nT1|branch\n#time 1\nT1|branch\n").unwrap_err().to_string();
    assert!(back.contains("not before the last one"), "{back}");
}
