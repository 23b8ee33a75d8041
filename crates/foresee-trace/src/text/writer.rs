//! Writes text traces.

use std::fmt::Write as _;
use std::io::Write;

use rustc_hash::FxHashMap;

use super::escape::{EMPTY, escape, push_escaped};
use super::keyword;
use super::labels::Labels;
use super::memory::escape_variable;
use super::parser::is_bare_number;
use crate::TraceError;
use crate::event::{Arg, Event, Mem, signed};
use crate::flat::{Flat, OpKind, Payload, PayloadShape, Target};
use crate::ids::{LocId, StrId};
use crate::names::{Names, Symbol};
use crate::source::{EventSink, Facts};
use crate::trust::Trust;

/// How much text is gathered before it is written.
const BUFFER: usize = 64 << 10;

/// Writes a text trace; see the [module](super) for its form.
pub struct TextWriter<W> {
    out: W,
    text: String,
    threads: Labels,
    locks: Labels,
    symbols: Labels,
    /// Which symbol begins at an address; of several, the last.
    symbol_at: FxHashMap<u64, usize>,
    /// The locations written so far, by id.
    locations: Vec<Option<Box<str>>>,
}

impl<W: Write> TextWriter<W> {
    /// A writer of a trace with these facts about its run.
    pub fn new(writer: W, facts: &Facts) -> Self {
        let mut text = String::new();
        facts.iter().for_each(|(key, value)| push_fact(&mut text, key, value));
        TextWriter {
            out: writer,
            text,
            threads: Labels::new(escape_plain),
            locks: Labels::new(escape_plain),
            symbols: Labels::new(escape_variable),
            symbol_at: FxHashMap::default(),
            locations: Vec::new(),
        }
    }

    /// Labels the names that are new, and declares new symbols of which more than the name is known.
    #[inline]
    fn take_new_names(&mut self, names: &Names) {
        if self.threads.len() != names.threads().len() {
            self.threads.extend(names, names.threads().iter().copied());
        }
        if self.locks.len() != names.locks().len() {
            self.locks.extend(names, names.locks().iter().copied());
        }
        if self.symbols.len() != names.symbols().len() {
            self.declare_new_symbols(names);
        }
    }

    fn declare_new_symbols(&mut self, names: &Names) {
        let known = self.symbols.len();
        self.symbols.extend(names, names.symbols().iter().map(|symbol| symbol.name));
        for (index, symbol) in names.symbols().iter().enumerate().skip(known) {
            self.symbol_at.insert(symbol.mem.addr, index);
            if !symbol.is_default() && symbol.mem.size > 0 {
                self.declare(index, symbol);
            }
        }
    }

    fn declare(&mut self, index: usize, symbol: &Symbol) {
        self.text.push_str("#var ");
        for c in self.symbols.get(index).unwrap_or(EMPTY).chars() {
            if c == ' ' {
                push_escaped(&mut self.text, c);
            } else {
                self.text.push(c);
            }
        }
        let _ = if symbol.is_symbolic() {
            writeln!(self.text, " - {}", symbol.mem.size)
        } else {
            writeln!(self.text, " {:#x} {}", symbol.mem.addr, symbol.mem.size)
        };
    }

    fn write_event(&mut self, names: &Names, event: &Event<'_>) {
        let thread = self.threads.get(event.thread.index()).unwrap_or(EMPTY);
        self.text.push_str(thread);
        self.text.push('|');
        let (flat, payload) = Flat::of(&event.op);
        self.text.push_str(flat.kind.word());
        if let Some(modifier) = keyword::modifier_name(flat.kind, flat.modifier)
            && !modifier.is_empty()
        {
            self.text.push('.');
            self.text.push_str(modifier);
        }
        let target = flat.target as usize;
        match flat.kind.target() {
            Target::Nothing => {}
            Target::String if target == StrId::EMPTY.index() && payload == Payload::Nothing => {}
            kind_of_target => {
                self.text.push('(');
                match kind_of_target {
                    Target::Memory => self.write_memory(names, Mem { addr: flat.target, size: flat.size }),
                    Target::Lock => self.text.push_str(self.locks.get(target).unwrap_or(EMPTY)),
                    Target::Thread => self.write_other_thread(event.thread.index(), target),
                    Target::String => self.write_name(flat.kind, names.str(StrId(flat.target as u32))),
                    Target::Nothing => {}
                }
                self.write_payload(names, payload, if flat.size == 0 { 8 } else { flat.size });
                self.text.push(')');
            }
        }
        self.write_location(names, event.loc);
        self.text.push('\n');
    }

    fn write_memory(&mut self, names: &Names, mem: Mem) {
        let symbol = names.symbol_at(mem.addr).filter(|symbol| mem.end() <= symbol.mem.end());
        let label = symbol
            .and_then(|symbol| Some((symbol.mem, self.symbols.get(*self.symbol_at.get(&symbol.mem.addr)?)?)));
        match label {
            Some((all, label)) => {
                self.text.push_str(label);
                if all != mem {
                    let start = mem.addr - all.addr;
                    let _ = write!(self.text, "[{start}..{}]", start + u64::from(mem.size));
                }
            }
            None => {
                let _ = write!(self.text, "[{:#x}..{:#x}]", mem.addr, mem.end());
            }
        }
    }

    /// A thread that is forked or joined by `own`; a bare number would be read as something else.
    fn write_other_thread(&mut self, own: usize, other: usize) {
        let other = self.threads.get(other).unwrap_or(EMPTY);
        let own = self.threads.get(own).unwrap_or(EMPTY);
        let mut rest = other.chars();
        if is_bare_number(other)
            && !is_bare_number(own)
            && let Some(first) = rest.next()
        {
            push_escaped(&mut self.text, first);
        }
        self.text.push_str(rest.as_str());
    }

    fn write_name(&mut self, kind: OpKind, name: &str) {
        let has_args = kind.payload() == PayloadShape::Args;
        escape(&mut self.text, name, |_, c| has_args && (c == ',' || c.is_whitespace()));
    }

    fn write_payload(&mut self, names: &Names, payload: Payload<'_>, size: u32) {
        let _ = match payload {
            Payload::Nothing => Ok(()),
            Payload::One(value) => write!(self.text, "={}", signed(value, size)),
            Payload::Two(read, written) => {
                write!(self.text, "={}->{}", signed(read, size), signed(written, size))
            }
            Payload::Args(args) => args.iter().try_for_each(|arg| match *arg {
                Arg::Int(number) => write!(self.text, ", {number}"),
                Arg::Object(object) => write!(self.text, ", @{object}"),
                Arg::Str(string) => {
                    self.text.push_str(", \"");
                    let string = names.str(string);
                    if !string.is_empty() {
                        escape(&mut self.text, string, |_, c| c == '"');
                    }
                    self.text.write_char('"')
                }
            }),
        };
    }

    fn write_location(&mut self, names: &Names, loc: LocId) {
        if loc == LocId::UNKNOWN {
            return;
        }
        if self.locations.len() <= loc.index() && loc.index() < names.locations().len() {
            self.locations.resize(names.locations().len(), None);
        }
        let Some(slot) = self.locations.get_mut(loc.index()) else { return };
        let written = slot.get_or_insert_with(|| {
            let place = names.location_text(loc);
            let mut text = String::new();
            if !place.is_empty() {
                text.push('|');
                escape(&mut text, &place, |at, c| c == ' ' && at + 1 == place.len());
            }
            text.into()
        });
        self.text.push_str(written);
    }

    fn write_out(&mut self) -> Result<(), TraceError> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

/// Threads and locks need no more than every name.
fn escape_plain(out: &mut String, name: &str) {
    escape(out, name, |_, _| false);
}

fn push_fact(text: &mut String, key: &str, value: &str) {
    text.push_str("#meta ");
    escape(text, key, |_, c| c == ' ');
    text.push(' ');
    push_rest(text, value);
}

/// The rest of a line. Blanks at its end are dropped when it is read.
fn push_rest(text: &mut String, rest: &str) {
    escape(text, rest, |at, c| c == ' ' && at + 1 == rest.len());
    text.push('\n');
}

impl<W: Write> EventSink for TextWriter<W> {
    fn push(&mut self, names: &Names, event: &Event<'_>) -> Result<(), TraceError> {
        self.take_new_names(names);
        self.write_event(names, event);
        if self.text.len() >= BUFFER { self.write_out() } else { Ok(()) }
    }

    fn fact(&mut self, key: &str, value: &str) -> Result<(), TraceError> {
        push_fact(&mut self.text, key, value);
        Ok(())
    }

    fn finish(&mut self, names: &Names, trust: &Trust) -> Result<(), TraceError> {
        self.take_new_names(names);
        for gap in trust.gaps() {
            self.text.push_str("#gap ");
            push_rest(&mut self.text, &gap.code());
        }
        self.write_out()?;
        Ok(self.out.flush()?)
    }
}
