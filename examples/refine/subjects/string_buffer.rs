//! `java.util.StringBuffer`: its `append` took the other buffer's length, and then its text, with nothing that kept it from changing
//! in between.

use std::sync::Mutex;

use foresee::attr::{mutator, observer};
use foresee::refine::models::Buffers;
use foresee::refine::structures::CellsReplica;
use foresee::refine::{Choice, Harness};
use foresee::{Logged, commit, commit_block};

use super::{Subject, lock};

pub(crate) struct StringBuffers<const BUG: bool> {
    texts: [Mutex<Logged<String>>; 2],
}

/// The place of a buffer.
fn place(name: &str) -> usize {
    usize::from(name == "b")
}

impl<const BUG: bool> StringBuffers<BUG> {
    fn new() -> Self {
        let text =
            |name: &'static str| Mutex::new(Logged::new(move || format!("buf[{name}]"), String::new()));
        StringBuffers { texts: [text("a"), text("b")] }
    }

    #[mutator]
    fn set(&self, buffer: &str, text: String) -> &'static str {
        let mut own = lock(&self.texts[place(buffer)]);
        commit_block! {
            own.set(text.clone());
            commit!();
        }
        "ok"
    }

    #[mutator]
    fn append(&self, to: &str, from: &str) -> &'static str {
        if BUG && to != from {
            let length = lock(&self.texts[place(from)]).len();
            std::thread::yield_now();
            let text = lock(&self.texts[place(from)]).get(..length).map(str::to_owned);
            let mut own = lock(&self.texts[place(to)]);
            let Some(text) = text else {
                commit!();
                return "IndexOutOfBounds";
            };
            let whole = format!("{}{text}", **own);
            commit_block! {
                own.set(whole);
                commit!();
            }
            return "ok";
        }
        // Always in this order.
        let mut first = lock(&self.texts[0]);
        let mut second = lock(&self.texts[1]);
        let text = [&first, &second][place(from)].to_string();
        let own = if place(to) == 0 { &mut first } else { &mut second };
        let whole = format!("{}{text}", ***own);
        commit_block! {
            own.set(whole);
            commit!();
        }
        "ok"
    }

    #[observer("toString")]
    fn text(&self, buffer: &str) -> String {
        lock(&self.texts[place(buffer)]).to_string()
    }
}

impl<const BUG: bool> Subject for StringBuffers<BUG> {
    type Spec = Buffers;
    type Replica = CellsReplica;
    const SPEC: Buffers = Buffers;

    fn new(_harness: &Harness) -> Self {
        StringBuffers::new()
    }

    fn operate(&self, choice: &mut Choice) {
        let (one, other) = if choice.below(2) == 0 { ("a", "b") } else { ("b", "a") };
        match choice.below(6) {
            0..3 => drop(self.set(one, choice.key().to_string())),
            3 | 4 => drop(self.append(one, other)),
            _ => drop(self.text(one)),
        }
    }
}
