//! `srs`: string rewriting systems.
//!
//! Each event is a symbol that is put behind a string; then rules rewrite the string until none of them fits. A rule that leads to
//! `#succeed` or `#fail` ends it with that verdict. With rules of any kind this can say what automata and grammars cannot (Meredith and
//! Roşu, *Efficient parametric runtime verification with deterministic string rewriting*, ASE 2013; RV-Monitor's `srs`):
//!
//! ```
//! use foresee_monitor::{compile, watch::Watch};
//!
//! let spec = r#"
//!     property HasNext(i) {
//!         event asked(i);
//!         event next(i);
//!         srs: asked asked -> asked .
//!              asked next  -> #epsilon .
//!              ^ next      -> #fail .
//!         @fail { report "{i} steps without asking"; }
//!     }
//! "#;
//! let compiled = compile(spec).unwrap();
//! let mut watch = Watch::new(&compiled.properties[0], |_| None);
//! let mut failed = Vec::new();
//! for (at, event) in [0, 0, 1, 1].into_iter().enumerate() {
//!     watch.event(event, 0, &[7], &mut |_| failed.push(at)).unwrap();
//! }
//! assert_eq!(failed, [3]);
//! ```
//!
//! **Which rule.** The leftmost place where one fits; there the one with the longest left side; of equally long ones the first.
//!
//! **Bounds.** Nobody can tell of any system whether it ends. A string that grows longer than [`LONGEST`], and rewriting that takes more than
//! [`MOST_WORK`], are given up, which is [told](Srs::GAVE_UP) and not passed over.
//!
//! Cost: a string that was rewritten has no place for a rule except where something changed, so only what is near is looked at.

use std::sync::Arc;

use super::{Categories, Handled, Letter, Monitor, Outlook};

/// A longer string is given up.
pub const LONGEST: usize = 4096;

/// How many symbols are compared at one event before rewriting is given up.
pub const MOST_WORK: usize = 1 << 20;

/// A rule; symbols are events by their numbers, and others above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Fits at the beginning of the string only.
    pub at_begin: bool,
    /// What is replaced; not empty.
    pub left: Vec<u32>,
    /// Fits at the end of the string only.
    pub at_end: bool,
    /// By what.
    pub right: Right,
}

/// What a rule leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Right {
    /// These symbols, or none.
    Symbols(Vec<u32>),
    /// The end, and success.
    Succeed,
    /// The end, and failure.
    Fail,
}

/// The monitor of a system; see the [module](self).
#[derive(Clone, Debug)]
pub struct Srs {
    rules: Arc<[Rule]>,
    /// Per symbol that left sides begin with, the rules, in the order in which they are tried.
    by_first: Arc<[Vec<u32>]>,
    longest_left: usize,
    events: u32,
    succeed: Categories,
    fail: Categories,
}

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SrsState {
    /// The string so far.
    Text(Arc<Vec<u32>>),
    /// A rule has just led to `#succeed`.
    Succeeds,
    /// A rule has just led to `#fail`.
    Fails,
    /// Rewriting has just been given up.
    GivesUp,
    /// One of these was before.
    Over,
}

/// What one rewriting comes to.
enum Step {
    /// It goes on from this place.
    On(usize),
    /// No rule fits.
    Done,
    Ends(SrsState),
}

impl Srs {
    /// The category of an instance that was given up, beside those that have handlers.
    pub const GAVE_UP: Categories = Categories(1 << 63);

    /// The monitor of these rules over so many events.
    pub fn new(rules: Vec<Rule>, events: u32, handled: Handled<'_>) -> Srs {
        let firsts = rules.iter().filter_map(|rule| rule.left.first()).max().map_or(0, |most| most + 1);
        let mut by_first = vec![Vec::new(); firsts as usize];
        for (number, rule) in (0..).zip(&rules) {
            if let Some(first) = rule.left.first() {
                by_first[*first as usize].push(number);
            }
        }
        for numbers in &mut by_first {
            // Stable: of equally long ones the first.
            numbers.sort_by_key(|number: &u32| std::cmp::Reverse(rules[*number as usize].left.len()));
        }
        let longest_left = rules.iter().map(|rule| rule.left.len()).max().unwrap_or(0);
        let (succeed, fail) = (handled.bit("succeed"), handled.bit("fail"));
        Srs { rules: rules.into(), by_first: by_first.into(), longest_left, events, succeed, fail }
    }

    fn read(&self, text: &mut Vec<u32>, event: u32) -> Option<SrsState> {
        text.push(event);
        let mut work = 0;
        let mut from = self.before(text.len() - 1);
        loop {
            match self.rewrite(text, from, &mut work) {
                Step::Done => return None,
                Step::Ends(state) => return Some(state),
                Step::On(_) if text.len() > LONGEST || work > MOST_WORK => return Some(SrsState::GivesUp),
                Step::On(at) => from = self.before(at),
            }
        }
    }

    /// The first place at which a rule could fit that reaches to this one.
    fn before(&self, place: usize) -> usize {
        place.saturating_sub(self.longest_left.saturating_sub(1))
    }

    fn rewrite(&self, text: &mut Vec<u32>, from: usize, work: &mut usize) -> Step {
        for at in from..text.len() {
            let rules = self.by_first.get(text[at] as usize).map_or(&[][..], |rules| rules);
            *work += 1 + rules.len();
            for &number in rules {
                let rule = &self.rules[number as usize];
                let end = at + rule.left.len();
                *work += rule.left.len();
                let is_placed = (!rule.at_begin || at == 0) && (!rule.at_end || end == text.len());
                if !is_placed || text.get(at..end) != Some(&rule.left[..]) {
                    continue;
                }
                return match &rule.right {
                    Right::Succeed => Step::Ends(SrsState::Succeeds),
                    Right::Fail => Step::Ends(SrsState::Fails),
                    Right::Symbols(right) => {
                        *work += text.len() - at;
                        text.splice(at..end, right.iter().copied());
                        Step::On(at)
                    }
                };
            }
        }
        Step::Done
    }
}

impl Monitor for Srs {
    type State = SrsState;

    fn start(&self) -> SrsState {
        SrsState::Text(Arc::default())
    }

    fn step(&self, state: &mut SrsState, letter: Letter) {
        let ended = match state {
            SrsState::Text(text) if text.len() >= LONGEST => Some(SrsState::GivesUp),
            SrsState::Text(text) => self.read(Arc::make_mut(text), letter),
            _ => Some(SrsState::Over),
        };
        if let Some(ended) = ended {
            *state = ended;
        }
    }

    fn verdicts(&self, state: &SrsState) -> Categories {
        match state {
            SrsState::Succeeds => self.succeed,
            SrsState::Fails => self.fail,
            SrsState::GivesUp => Srs::GAVE_UP,
            SrsState::Text(_) | SrsState::Over => Categories::NONE,
        }
    }

    fn outlook(&self) -> Outlook {
        Outlook::coarse(self.events, |_| true)
    }

    fn place(&self, state: &SrsState) -> u32 {
        match state {
            SrsState::Text(text) if text.is_empty() => 0,
            SrsState::Text(_) => 1,
            _ => 2,
        }
    }
}
