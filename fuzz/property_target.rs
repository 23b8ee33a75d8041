//! What the fuzzer of event streams runs; the same function runs over the corpus, and over changes of it, in the test suite on stable
//! (`crates/foresee-predict/tests/fuzz_events.rs`).

use std::sync::OnceLock;

use foresee_lattice::property::{Feed, Occasion, says};
use foresee_monitor::{Compiled, compile};
use foresee_trace::text::TextReader;
use foresee_trace::{EventSource as _, LocId};

/// Properties in all formalisms, over named events, memory, locks, threads and calls.
const SPEC: &str = r#"
property Iterator(c, i) { event create(c, i); event update(c); event next(i);
    ere: create next* update+ next @match { report "{c} {i} {loc} {thread} {trace}"; } }
property Landing { var LANDING, RADIO: int; event next(i);
    ptltl: LANDING == 1 -> [RADIO > 0, RADIO < -1) @violation { report "{thread}"; reset; } }
property Locks(l, thread) { event acquire(l, thread); event release(l, thread); event end_program;
    cfg: s -> s acquire s release | epsilon @fail { report "{l} {thread}"; } }
property Big(x, v) { event write(x, v) when v / (v - 3) > 2; event read(x); event end_object(x);
    ltl: [](end_object => !<*> write) @violation { report "{x} {v}"; } }
suffix perthread property Calls(t) { event fork(t); event join(t); event in = enter("f"); event out = exit("f"); event end_thread;
    fsm: a [ fork -> b default -> a ] b [ join -> c out -> c ] c [ in -> c ] @c { report "{t}"; } @fail { count; } }
property Remembers(c, x) { state last: int = 0; event same(c, n) = next(c, n) when n == last; event next(c, n) when n != x { last = n; }
    event write(x); event key(c) = update(c, name) when name == "key"; ere: next+ (same | key) @match { report "{c} {x}"; reset; } }
property Rewrites(c) { event create(c, i); event next(c); srs: create create -> create next . next next create -> #fail . ^ next $ -> #succeed
    @fail { report "{c}"; } @succeed { reset; } }
property Timed(i) { event next(i); event update(i); ptltl: update -> next within 5s @violation { report "{i}"; } }
"#;

/// Any bytes as a stream of events for properties: ends, without a panic.
pub(crate) fn events(bytes: &[u8]) {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| compile(SPEC).unwrap_or_else(|problems| panic!("{problems:#?}")));
    let mut feeds: Vec<Feed<'_>> = compiled.properties.iter().map(Feed::new).collect();
    let mut reader = TextReader::new(bytes);
    let mut said = 0;
    while let Ok(true) = reader.advance() {
        let (names, event, time) = (reader.names(), reader.event(), reader.time());
        let occasion = Occasion { names, thread: Some(event.thread), loc: event.loc, trace: "x" };
        for feed in &mut feeds {
            feed.learn(names);
            time.into_iter().for_each(|time| feed.at(time));
            let mut heard = Vec::new();
            let _ =
                feed.event(&event, &mut |v| heard.push((v.body, v.categories, v.domain, v.values.to_vec())));
            for (body, categories, domain, values) in heard {
                let handlers = &feed.property().bodies[body].handlers;
                for handler in categories.indices() {
                    said += says(feed.translator(), &handlers[handler], domain, &values, occasion).len();
                }
            }
        }
    }
    for feed in &mut feeds {
        feed.end(&mut |verdict| said += verdict.values.len());
    }
    let end = Occasion { names: reader.names(), thread: None, loc: LocId::UNKNOWN, trace: "x" };
    let handler = &compiled.properties[0].bodies[0].handlers[0];
    assert!(!says(feeds[0].translator(), handler, Default::default(), &[], end).is_empty());
}
