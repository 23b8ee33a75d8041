//! `cfg`: context-free patterns, with any grammar: ambiguous, left-recursive and with empty rules.
//!
//! An Earley recogniser (Earley 1970) that reads one event at a time. A state is the latest Earley set; an item points
//! to the set where it began, so older sets live exactly as long as something unfinished refers to them, and a monitor of
//! balanced brackets holds as many sets as brackets are open. Items over rules that can be empty are advanced at once
//! (Aycock and Horspool 2002), and chains of right recursion are followed once and remembered (Leo 1991). With that, a
//! step takes amortised constant time for LR grammars, and at most quadratic time in the events so far for ambiguous
//! ones.
//!
//! Two states are equal if their 128-bit fingerprints are: sets form deep graphs, and comparing them whole would cost as
//! much as reading the trace again.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashSet, FxHasher};
use smallvec::SmallVec;

use super::{Categories, Handled, Letter, Monitor, Outlook};

/// A symbol on the right of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// An event.
    Event(u32),
    /// A symbol of the grammar.
    Rule(u32),
}

/// A context-free grammar; symbol 0 is the start.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// `symbol -> right side`, one entry for each alternative.
    pub rules: Vec<(u32, Vec<Symbol>)>,
    /// How many symbols there are.
    pub symbols: u32,
}

/// The monitor of a grammar.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// The rules, then one more: the goal, which derives the start symbol.
    rules: Vec<(u32, Vec<Symbol>)>,
    nullable: Vec<bool>,
    by_symbol: Vec<Vec<u32>>,
    events: u32,
    matched: Categories,
    failed: Categories,
    start: Arc<Set>,
}

/// A rule with a dot in it, and the set where it began (`None`: in the set it is part of).
#[derive(Clone, Debug)]
struct Item {
    rule: u32,
    dot: u32,
    origin: Option<Arc<Set>>,
}

/// An Earley set: its unfinished items.
#[derive(Debug)]
pub struct Set {
    fingerprint: u128,
    accepts: bool,
    items: Vec<Item>,
    /// Per symbol, where a chain of right recursion through this set ends.
    shortcuts: SmallVec<[(u32, Item); 1]>,
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for Set {}

impl Hash for Set {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

/// Sets form long chains; dropping one after the other keeps the stack flat.
impl Drop for Set {
    fn drop(&mut self) {
        let mut waiting = Vec::new();
        let take = |set: &mut Set, waiting: &mut Vec<Arc<Set>>| {
            waiting.extend(set.items.drain(..).filter_map(|item| item.origin));
            waiting.extend(set.shortcuts.drain(..).filter_map(|(_, item)| item.origin));
        };
        take(self, &mut waiting);
        while let Some(set) = waiting.pop() {
            if let Some(mut last) = Arc::into_inner(set) {
                take(&mut last, &mut waiting);
            }
        }
    }
}

fn fingerprint_of(origin: Option<&Arc<Set>>) -> u128 {
    origin.map_or(0, |set| set.fingerprint)
}

impl Cfg {
    /// The monitor of `grammar` over `events` events, with verdicts `match` and `fail`.
    pub fn new(grammar: &Grammar, events: u32, handled: Handled<'_>) -> Cfg {
        let goal = grammar.symbols;
        let mut rules = grammar.rules.clone();
        rules.push((goal, vec![Symbol::Rule(0)]));
        // Rules that derive no sequence at all would make prefixes look viable that are not.
        let productive = derivable(&rules, goal as usize + 1, |_| true);
        rules.retain(|(_, right)| right.iter().all(|part| part.is_derivable(&productive, |_| true)));
        let mut by_symbol = vec![Vec::new(); goal as usize + 1];
        for (index, (symbol, _)) in rules.iter().enumerate() {
            by_symbol[*symbol as usize].push(index as u32);
        }
        let nullable = derivable(&rules, goal as usize + 1, |_| false);
        let (matched, failed) = (handled.bit("match"), handled.bit("fail"));
        let empty = Set { fingerprint: 0, accepts: false, items: Vec::new(), shortcuts: SmallVec::new() };
        let mut cfg = Cfg { rules, nullable, by_symbol, events, matched, failed, start: Arc::new(empty) };
        let first = cfg.goal().map(|rule| Item { rule, dot: 0, origin: None });
        cfg.start = Arc::new(cfg.close(first.into_iter().collect()));
        cfg
    }

    /// The grammar it was made of, without rules that derive nothing.
    pub fn grammar(&self) -> Grammar {
        let symbols = self.by_symbol.len() as u32 - 1;
        let rules = self.rules.iter().filter(|(symbol, _)| *symbol != symbols).cloned().collect();
        Grammar { rules, symbols }
    }

    /// The last rule, unless the grammar derives nothing at all.
    fn goal(&self) -> Option<u32> {
        self.by_symbol.last().and_then(|rules| rules.first().copied())
    }

    fn symbol_after_dot(&self, item: &Item) -> Option<Symbol> {
        self.rules[item.rule as usize].1.get(item.dot as usize).copied()
    }

    /// The item with its dot moved, as part of a later set; `home` is the set it was in.
    fn moved(item: &Item, home: &Arc<Set>) -> Item {
        let origin = item.origin.clone().unwrap_or_else(|| Arc::clone(home));
        Item { rule: item.rule, dot: item.dot + 1, origin: Some(origin) }
    }

    /// The set that contains `kernel` and all that follows from it.
    fn close(&self, kernel: Vec<Item>) -> Set {
        let mut known: FxHashSet<(u32, u32, u128)> = FxHashSet::default();
        let mut items: Vec<Item> = Vec::new();
        let mut queue = kernel;
        let mut accepts = false;
        while let Some(item) = queue.pop() {
            if !known.insert((item.rule, item.dot, fingerprint_of(item.origin.as_ref()))) {
                continue;
            }
            match self.symbol_after_dot(&item) {
                Some(Symbol::Event(_)) => items.push(item),
                Some(Symbol::Rule(symbol)) => {
                    let predicted = self.by_symbol[symbol as usize].iter();
                    queue.extend(predicted.map(|&rule| Item { rule, dot: 0, origin: None }));
                    if self.nullable[symbol as usize] {
                        queue.push(Item { dot: item.dot + 1, ..item.clone() });
                    }
                    items.push(item);
                }
                None => {
                    let symbol = self.rules[item.rule as usize].0;
                    accepts |= Some(item.rule) == self.goal();
                    // A finished item that began here is empty, and was advanced over when it was predicted.
                    let Some(origin) = item.origin else { continue };
                    match origin.shortcuts.iter().find(|(of, _)| *of == symbol) {
                        Some((_, top)) => queue.push(top.clone()),
                        None => {
                            queue.extend(self.waiting(&origin, symbol).map(|item| Cfg::moved(item, &origin)))
                        }
                    }
                }
            }
        }
        items.sort_by_key(|item| (item.rule, item.dot, fingerprint_of(item.origin.as_ref())));
        let fingerprint = fingerprint(&items, accepts);
        let mut set = Set { fingerprint, accepts, items, shortcuts: SmallVec::new() };
        set.shortcuts = self.shortcuts(&set);
        set
    }

    fn waiting<'a>(&'a self, set: &'a Set, symbol: u32) -> impl Iterator<Item = &'a Item> {
        set.items.iter().filter(move |item| self.symbol_after_dot(item) == Some(Symbol::Rule(symbol)))
    }

    /// Where only one item waits for a symbol, and is finished by it, that item's own completion is foreseen.
    fn shortcuts(&self, set: &Set) -> SmallVec<[(u32, Item); 1]> {
        let mut shortcuts = SmallVec::new();
        for symbol in 0..self.by_symbol.len() as u32 {
            let mut waiting = self.waiting(set, symbol);
            let (Some(item), None) = (waiting.next(), waiting.next()) else { continue };
            let Some(origin) = &item.origin else { continue };
            let (owner, right) = &self.rules[item.rule as usize];
            if item.dot as usize + 1 == right.len() {
                let further = origin.shortcuts.iter().find(|(of, _)| of == owner).map(|(_, top)| top.clone());
                let own = Item { rule: item.rule, dot: item.dot + 1, origin: Some(Arc::clone(origin)) };
                shortcuts.push((symbol, further.unwrap_or(own)));
            }
        }
        shortcuts
    }

    fn after(&self, set: &Arc<Set>, event: u32) -> Set {
        let scanned =
            set.items.iter().filter(|item| self.symbol_after_dot(item) == Some(Symbol::Event(event)));
        self.close(scanned.map(|item| Cfg::moved(item, set)).collect())
    }

    fn has_failed(set: &Set) -> bool {
        set.items.is_empty() && !set.accepts
    }
}

fn fingerprint(items: &[Item], accepts: bool) -> u128 {
    let half = |salt: u64| {
        let mut hasher = FxHasher::default();
        (salt, accepts, items.len()).hash(&mut hasher);
        for item in items {
            (item.rule, item.dot, salt, fingerprint_of(item.origin.as_ref())).hash(&mut hasher);
        }
        u128::from(hasher.finish())
    };
    half(0x9e37_79b9_7f4a_7c15) << 64 | half(0xd1b5_4a32_d192_ed03) | 1
}

impl Symbol {
    fn is_derivable(self, symbols: &[bool], event: impl Fn(u32) -> bool) -> bool {
        match self {
            Symbol::Event(this) => event(this),
            Symbol::Rule(symbol) => symbols[symbol as usize],
        }
    }
}

/// Which symbols derive some sequence of the events allowed.
fn derivable(rules: &[(u32, Vec<Symbol>)], symbols: usize, event: impl Fn(u32) -> bool + Copy) -> Vec<bool> {
    let mut derivable = vec![false; symbols];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (symbol, right) in rules {
            if !derivable[*symbol as usize] && right.iter().all(|part| part.is_derivable(&derivable, event)) {
                derivable[*symbol as usize] = true;
                changed = true;
            }
        }
    }
    derivable
}

impl Monitor for Cfg {
    type State = Arc<Set>;

    fn start(&self) -> Arc<Set> {
        Arc::clone(&self.start)
    }

    fn step(&self, state: &mut Arc<Set>, letter: Letter) {
        *state = Arc::new(self.after(state, letter));
    }

    fn verdicts(&self, state: &Arc<Set>) -> Categories {
        match (state.accepts, Cfg::has_failed(state)) {
            (true, _) => self.matched,
            (false, true) => self.failed,
            (false, false) => Categories::NONE,
        }
    }

    fn outlook(&self) -> Outlook {
        let begins = |event| !self.failed.is_empty() || !Cfg::has_failed(&self.after(&self.start, event));
        Outlook::coarse(self.events, begins)
    }

    fn place(&self, state: &Arc<Set>) -> u32 {
        if Cfg::has_failed(state) && self.failed.is_empty() { 2 } else { 1 }
    }

    fn merges_suffixes(&self) -> bool {
        true
    }
}
