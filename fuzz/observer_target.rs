//! What the fuzzer of the observer's protocol runs; the same function runs over the corpus, and over changes of it, in the test suite on
//! stable (`crates/foresee-predict/tests/fuzz_messages.rs`).

use std::sync::OnceLock;

use foresee_lattice::online::{Limits, Session, parse, stages};
use foresee_monitor::{Compiled, compile};

const SPEC: &str = r#"
property Landing { var landing, approved: int; var radio: int = 1;
    ptltl: start(landing == 1) -> [approved == 1, radio == 0) @violation { report "{thread} {loc}"; } }
property Order { event a; event b;
    ere: a b+ a @match { report "aba"; } @fail { reset; } }
property Iterator(c, i) { event create(c, i); event update(c); event next(i);
    ere: create next* update+ next @match { report "{c} {i}"; } }
"#;

/// Any bytes as messages: ends, without a panic, whatever is claimed; what is understood can be written and read again, and the check of
/// runs never refuses what the explorer makes of it.
pub(crate) fn messages(bytes: &[u8]) {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| compile(SPEC).unwrap_or_else(|problems| panic!("{problems:#?}")));
    let Ok(stages) = stages(&compiled.properties) else { panic!("properties that can be observed") };
    let limits = Limits {
        memory: 1 << 18,
        slices: 8,
        buffered: 16,
        patience: 8,
        findings: 4,
        weigh_after: 4,
        ..Limits::default()
    };
    let mut session = Session::new(&stages, limits);
    let mut found = 0;
    for line in bytes.split(|&byte| byte == b'\n') {
        let Ok(message) = parse(line) else { continue };
        let again = message.line();
        assert_eq!(parse(&again[..again.len() - 1]).ok().as_ref(), Some(&message));
        if session.hear(message).is_err() {
            break;
        }
        found += session.advance(None).len();
    }
    found += session.look_ahead(None).len();
    let properties = compiled.properties.len();
    assert!(found <= properties * limits.findings && session.waiting() <= properties * limits.buffered);
    assert_eq!(session.refused(), 0);
}
