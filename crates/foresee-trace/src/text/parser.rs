//! One line of text to one event.

use memchr::{memchr, memrchr};

use super::escape::unescape;
use super::fault::{Fault, fault};
use super::memory::{split_pair, split_range, split_value};
use super::number::{is_number, number, value_bits};
use super::{directive, keyword};
use crate::event::{Arg, Event, Mem};
use crate::flat::{Flat, OpKind, Payload, PayloadShape, Target};
use crate::ids::{LocId, ThreadId};
use crate::names::Names;
use crate::source::Facts;
use crate::trust::Trust;

/// What was read so far, and the event of the last line that had one.
pub(super) struct Parser {
    pub(super) names: Names,
    pub(super) facts: Facts,
    pub(super) trust: Trust,
    /// When what follows happened, in nanoseconds.
    pub(super) time: Option<u64>,
    thread: ThreadId,
    loc: LocId,
    flat: Flat,
    values: Values,
    args: Vec<Arg>,
}

/// The payload of the current event; arguments are in `Parser::args`.
enum Values {
    Nothing,
    One(u64),
    Two(u64, u64),
    Args,
}

impl Parser {
    pub(super) fn new() -> Self {
        Parser {
            names: Names::new(),
            facts: Facts::new(),
            trust: Trust::whole(),
            time: None,
            thread: ThreadId(0),
            loc: LocId::UNKNOWN,
            flat: Flat { kind: OpKind::Branch, modifier: 0, size: 0, target: 0 },
            values: Values::Nothing,
            args: Vec::new(),
        }
    }

    /// The event of the last line for which [`line`](Parser::line) returned `true`.
    #[inline]
    pub(super) fn event(&self) -> Event<'_> {
        let payload = match self.values {
            Values::Nothing => Payload::Nothing,
            Values::One(value) => Payload::One(value),
            Values::Two(read, written) => Payload::Two(read, written),
            Values::Args => Payload::Args(&self.args),
        };
        Event { thread: self.thread, loc: self.loc, op: self.flat.op(payload) }
    }

    /// Reads a line; `false` if it has no event.
    #[inline]
    pub(super) fn line<'a>(&mut self, line: &'a str) -> Result<bool, Fault<'a>> {
        let Some((thread, rest)) = split_at_byte(line, b'|') else {
            return match line.as_bytes().first() {
                None => Ok(false),
                Some(b'#') => {
                    let Parser { names, facts, trust, time, .. } = self;
                    directive::read(line, names, facts, trust, time).map(|()| false)
                }
                Some(_) => Err(fault(line, "a line of the form `thread|operation|location`")),
            };
        };
        if thread.is_empty() {
            return Err(fault(thread, "a thread name"));
        }
        self.thread = self.names.thread(&unescape(thread));
        let operation = match split_at_byte(rest, b'|') {
            Some((operation, location)) => {
                if let Some((_, extra)) = split_at_byte(location, b'|') {
                    return Err(fault(extra, "the end of the line: only three fields belong to an event"));
                }
                self.loc = self.names.location_from_text(&unescape(location));
                operation
            }
            None => {
                self.loc = LocId::UNKNOWN;
                rest
            }
        };
        self.operation(thread, operation)?;
        Ok(true)
    }

    #[inline]
    fn operation<'a>(&mut self, thread: &'a str, text: &'a str) -> Result<(), Fault<'a>> {
        let (word, argument) = split_argument(text)?;
        let (kind, modifier) = match word {
            "r" => (OpKind::Read, 0),
            "w" => (OpKind::Write, 0),
            "acq" => (OpKind::Acquire, 0),
            "rel" => (OpKind::Release, 0),
            _ => {
                let (word, modifier) = word.split_once('.').map_or((word, None), |(w, m)| (w, Some(m)));
                let kind = keyword::kind(word)?;
                (kind, keyword::modifier(kind, modifier)?)
            }
        };
        let inside = argument.unwrap_or(&text[text.len()..]);
        self.values = Values::Nothing;
        let (target, size) = match kind.target() {
            Target::Memory => {
                let mem = self.access(kind.payload(), inside)?;
                (mem.addr, mem.size)
            }
            Target::Lock => {
                if inside.is_empty() {
                    return Err(fault(inside, "a lock in parentheses"));
                }
                (u64::from(self.names.lock(&unescape(inside)).0), 0)
            }
            Target::Thread => (u64::from(self.other_thread(thread, inside)?.0), 0),
            Target::String => (u64::from(self.named(kind.payload(), inside)?), 0),
            Target::Nothing => {
                if !inside.is_empty() {
                    return Err(fault(inside, "nothing in the parentheses"));
                }
                (0, 0)
            }
        };
        self.flat = Flat { kind, modifier, size, target };
        Ok(())
    }

    /// `memory`, `memory=value` or `memory=read->written`.
    #[inline]
    fn access<'a>(&mut self, shape: PayloadShape, text: &'a str) -> Result<Mem, Fault<'a>> {
        let (place, value) = match shape {
            PayloadShape::Nothing => (text, None),
            _ => split_value(text),
        };
        let Some(value) = value else { return self.memory(text) };
        match (shape, split_pair(value)) {
            (PayloadShape::MaybeTwo, Some((read, written))) => {
                let mem = self.memory(place)?;
                self.values = Values::Two(fitting(read, mem)?, fitting(written, mem)?);
                Ok(mem)
            }
            (PayloadShape::MaybeTwo, None) => {
                Err(fault(value, "`read->written`, the values before and after"))
            }
            (_, Some(_)) => self.memory(text),
            (_, None) => {
                let mem = self.memory(place)?;
                self.values = Values::One(fitting(value, mem)?);
                Ok(mem)
            }
        }
    }

    #[inline]
    fn memory<'a>(&mut self, text: &'a str) -> Result<Mem, Fault<'a>> {
        match split_range(text) {
            None if text.is_empty() => Err(fault(text, "a variable in parentheses")),
            None => Ok(self.names.symbol(&unescape(text))),
            Some((name, from, to)) => self.bytes_of(name, from, to),
        }
    }

    /// The bytes from `from` up to `to` of the variable `name`, or of all memory without a name.
    fn bytes_of<'a>(&mut self, name: &'a str, from: &'a str, to: &'a str) -> Result<Mem, Fault<'a>> {
        let (base, limit) = if name.is_empty() {
            (0, 1 << 64)
        } else {
            let symbol = self.names.symbol(&unescape(name));
            (symbol.addr, i128::from(symbol.size))
        };
        let inside = |n: &i128| (0..=limit).contains(n);
        let outside = |at| {
            let expected = if name.is_empty() {
                "an address of 64 bits".to_owned()
            } else {
                format!(
                    "a byte of the {limit} bytes of the variable (`#var` before its first use makes it larger)"
                )
            };
            fault(at, expected)
        };
        let start = number(from).filter(inside).ok_or_else(|| outside(from))?;
        let end = number(to).filter(inside).ok_or_else(|| outside(to))?;
        match u32::try_from(end - start) {
            Ok(size) if size > 0 => Ok(Mem { addr: base.wrapping_add(start as u64), size }),
            _ => Err(fault(to, "an end after the start, at most 4 GiB after it")),
        }
    }

    /// The thread that `thread` forks or joins: `9` is `T9` unless threads are named by bare numbers here.
    fn other_thread<'a>(&mut self, thread: &str, text: &'a str) -> Result<ThreadId, Fault<'a>> {
        if text.is_empty() {
            return Err(fault(text, "a thread in parentheses"));
        }
        if is_bare_number(text) && !is_bare_number(&unescape(thread)) {
            return Ok(self.names.thread(&format!("T{text}")));
        }
        Ok(self.names.thread(&unescape(text)))
    }

    /// A name with what its kind of payload asks for; the id of the name.
    fn named<'a>(&mut self, shape: PayloadShape, text: &'a str) -> Result<u32, Fault<'a>> {
        let (name, rest) = match shape {
            PayloadShape::Args => {
                split_at_byte(text, b',').map_or((text.trim(), None), |(n, r)| (n.trim(), Some(r)))
            }
            PayloadShape::One => match memrchr(b'=', text.as_bytes()) {
                Some(at) => (&text[..at], Some(&text[at + 1..])),
                None => return Err(fault(text, "`name=value`")),
            },
            _ => (text, None),
        };
        if name.is_empty() && matches!(shape, PayloadShape::Args | PayloadShape::One) {
            return Err(fault(name, "a name"));
        }
        match shape {
            PayloadShape::Args => {
                self.arguments(rest)?;
                self.values = Values::Args;
            }
            PayloadShape::One => {
                let value = rest.unwrap_or_default();
                self.values =
                    Values::One(value_bits(value, 8).ok_or_else(|| fault(value, "a number of 64 bits"))?);
            }
            _ => {}
        }
        Ok(self.names.intern(&unescape(name)).0)
    }

    /// `1, "a b", @12`
    fn arguments<'a>(&mut self, mut rest: Option<&'a str>) -> Result<(), Fault<'a>> {
        const EXPECTED: &str = "an argument: a number, a \"string\", or an object `@number`";
        self.args.clear();
        while let Some(text) = rest {
            let text = text.trim_start();
            let after = if let Some(string) = text.strip_prefix('"') {
                let (string, after) =
                    split_at_byte(string, b'"').ok_or_else(|| fault(text, "a string that ends with `\"`"))?;
                self.args.push(Arg::Str(self.names.intern(&unescape(string))));
                after.trim_start()
            } else {
                let end = memchr(b',', text.as_bytes()).unwrap_or(text.len());
                let (word, after) = text.split_at(end);
                let word = word.trim_end();
                let arg = match word.strip_prefix('@') {
                    Some(object) => number(object).and_then(|n| u64::try_from(n).ok()).map(Arg::Object),
                    None => number(word).and_then(|n| i64::try_from(n).ok()).map(Arg::Int),
                };
                self.args.push(arg.ok_or_else(|| fault(word, EXPECTED))?);
                after
            };
            rest = match after.strip_prefix(',') {
                None if !after.is_empty() => return Err(fault(after, "`,` or the end of the arguments")),
                more => more,
            };
        }
        Ok(())
    }
}

/// Takes `word(argument)` apart.
#[inline]
fn split_argument(text: &str) -> Result<(&str, Option<&str>), Fault<'_>> {
    let Some((word, rest)) = split_at_byte(text, b'(') else { return Ok((text, None)) };
    if let Some(argument) = rest.strip_suffix(')') {
        return Ok((word, Some(argument)));
    }
    let after = memrchr(b')', rest.as_bytes()).map_or(&rest[rest.len()..], |at| &rest[at + 1..]);
    Err(fault(after, if after.is_empty() { "`)`" } else { "`|` or the end of the line after `)`" }))
}

/// The text at both sides of the first `byte` (an ASCII one).
#[inline]
fn split_at_byte(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = memchr(byte, text.as_bytes())?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// A value that fits into the memory.
fn fitting(value: &str, mem: Mem) -> Result<u64, Fault<'_>> {
    value_bits(value, mem.size)
        .ok_or_else(|| fault(value, format!("a value that fits into {} bytes", mem.size.min(8))))
}

/// Whether a thread name is only a number.
pub(super) fn is_bare_number(name: &str) -> bool {
    is_number(name) && name.bytes().all(|b| b.is_ascii_digit())
}
