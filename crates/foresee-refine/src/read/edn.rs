//! EDN, as far as histories of Jepsen use it: maps of keywords and values, one after the other or in a vector.

use rustc_hash::FxHashSet;

use super::case::ReadError;
use super::entry::{Entry, Kind};
use crate::value::Value;

/// How deep values may nest.
const DEEPEST: usize = 64;

/// A piece of EDN.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Edn {
    Value(Value),
    /// A number that is none of the values: with a fraction, of more than 64 bits, or none at all. Histories have many beside their operations.
    Number(String),
    Keyword(String),
    List(Vec<Edn>),
    Map(Vec<(Edn, Edn)>),
}

impl Edn {
    /// The plain value: a keyword is its name. Otherwise what is wrong.
    pub(super) fn value(&self) -> Result<Value, String> {
        Ok(match self {
            Edn::Value(value) => value.clone(),
            Edn::Keyword(name) => Value::from(name.as_str()),
            Edn::List(items) => Value::List(items.iter().map(Edn::value).collect::<Result<_, _>>()?),
            Edn::Number(number) => {
                return Err(format!("`{number}`: expected a whole number of at most 64 bits"));
            }
            Edn::Map(_) => return Err("expected a plain value, not a map".to_owned()),
        })
    }
}

/// The operations in a text.
pub(super) fn operations(text: &str) -> Result<Vec<Entry>, ReadError> {
    let mut parser = Parser { text, at: 0, line: 1 };
    let mut entries = Vec::new();
    let mut number = 0;
    let mut last_index = None;
    let mut take = |line, item| {
        entries.extend(entry(&item, line, number)?);
        number += 1;
        let index = index_of(&item);
        if index.is_some() && index <= last_index {
            let what =
                "an :index that is not larger than the one before; expected entries in the order of time";
            return Err(ReadError::Line { line, what: what.to_owned() });
        }
        last_index = index.or(last_index);
        Ok(())
    };
    while parser.skip_blanks(0)? {
        match (parser.line, parser.peek()) {
            (_, Some('[')) => parser.each(']', 0, &mut take)?,
            (_, Some('(')) => parser.each(')', 0, &mut take)?,
            (line, _) => match parser.edn(0)? {
                Edn::List(items) => items.into_iter().try_for_each(|item| take(line, item))?,
                item => take(line, item)?,
            },
        }
    }
    Ok(entries)
}

/// One piece of EDN at the beginning of what is left of a line, and what is left then.
pub(super) fn value(text: &str, line: usize) -> Result<(Edn, &str), ReadError> {
    let mut parser = Parser { text, at: 0, line };
    if !parser.skip_blanks(0)? {
        return Err(parser.wrong("expected a value"));
    }
    let value = parser.edn(0)?;
    Ok((value, &text[parser.at..]))
}

fn field<'a>(fields: &'a [(Edn, Edn)], name: &str) -> Option<&'a Edn> {
    fields.iter().find(|(key, _)| matches!(key, Edn::Keyword(own) if own == name)).map(|(_, it)| it)
}

/// Which entry of its history this is, if it says so.
fn index_of(edn: &Edn) -> Option<i64> {
    let Edn::Map(fields) = edn else { return None };
    match field(fields, "index") {
        Some(Edn::Value(Value::Int(index))) => Some(*index),
        _ => None,
    }
}

/// The entry that a map describes; `None` for what is no operation of a client.
fn entry(edn: &Edn, line: usize, number: u32) -> Result<Option<Entry>, ReadError> {
    let wrong = |what: &str| ReadError::Line { line, what: what.to_owned() };
    let unplain = |what: String| ReadError::Line { line, what };
    let Edn::Map(fields) = edn else {
        return Err(wrong("expected an operation: {:process 0, :type :invoke, :f :read, :value nil}"));
    };
    let get = |name: &str| field(fields, name);
    let process = match get("process") {
        Some(Edn::Value(Value::Int(process))) => *process,
        Some(Edn::Keyword(name)) if name == "nemesis" => return Ok(None),
        Some(_) => return Err(wrong("a :process that is no number; expected one, or :nemesis")),
        None => return Err(wrong("an operation without :process; expected a number")),
    };
    let kind = match get("type") {
        Some(Edn::Keyword(name)) => {
            Kind::of(name).ok_or_else(|| wrong("expected :type :invoke, :ok, :fail or :info"))?
        }
        _ => return Err(wrong("an operation without :type; expected :invoke, :ok, :fail or :info")),
    };
    let Some(Edn::Keyword(f)) = get("f") else {
        return Err(wrong("an operation without :f; expected a keyword"));
    };
    let plain = |field: Option<&Edn>| match field {
        None => Ok(Value::Null),
        Some(it) => it.value().map_err(unplain),
    };
    let key = get("key").map(|key| plain(Some(key))).transpose()?;
    Ok(Some(Entry { number, line, process, kind, f: f.clone(), key, value: plain(get("value"))? }))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Parser<'_> {
    fn wrong(&self, what: impl Into<String>) -> ReadError {
        ReadError::Line { line: self.line, what: what.into() }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        if next == '\n' {
            self.line += 1;
        }
        Some(next)
    }

    /// Passes blanks, comments, and what is discarded; whether there is more.
    fn skip_blanks(&mut self, depth: usize) -> Result<bool, ReadError> {
        while let Some(next) = self.peek() {
            if next.is_whitespace() || next == ',' {
                self.advance();
            } else if next == ';' {
                while self.peek().is_some_and(|next| next != '\n') {
                    self.advance();
                }
            } else if self.text[self.at..].starts_with("#_") {
                self.at += 2;
                self.edn(depth + 1)?;
            } else {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn edn(&mut self, depth: usize) -> Result<Edn, ReadError> {
        if depth > DEEPEST {
            return Err(self.wrong(format!("values are nested deeper than {DEEPEST}")));
        }
        self.skip_blanks(depth)?;
        match self.peek() {
            None => Err(self.wrong("the file ends within a value")),
            Some('{') => {
                let items = self.items('}', depth)?;
                if items.len() % 2 == 1 {
                    return Err(self.wrong("a map with a key that has no value"));
                }
                let mut items = items.into_iter();
                let mut fields = Vec::new();
                let mut names = FxHashSet::default();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    if let Edn::Keyword(name) = &key
                        && !names.insert(name.clone())
                    {
                        return Err(self.wrong(format!("`:{name}` is there twice; expected each key once")));
                    }
                    fields.push((key, value));
                }
                Ok(Edn::Map(fields))
            }
            Some('[') => Ok(Edn::List(self.items(']', depth)?)),
            Some('(') => Ok(Edn::List(self.items(')', depth)?)),
            Some('#') => {
                self.advance();
                match self.peek() {
                    Some('{') => return Ok(Edn::List(self.items('}', depth)?)),
                    // Infinity, or what is no number.
                    Some('#') => return Ok(Edn::Number(format!("#{}", self.word()))),
                    _ => {}
                }
                // A tag says what the value is for; the value is what counts.
                self.word();
                self.edn(depth + 1)
            }
            Some('"') => self.string(),
            Some(':') => {
                self.advance();
                Ok(Edn::Keyword(self.word()))
            }
            Some(_) => self.atom(),
        }
    }

    fn items(&mut self, end: char, depth: usize) -> Result<Vec<Edn>, ReadError> {
        let mut items = Vec::new();
        self.each(end, depth, &mut |_, item| {
            items.push(item);
            Ok(())
        })?;
        Ok(items)
    }

    /// Takes each of the items up to the bracket that ends them, with its line.
    fn each(
        &mut self,
        end: char,
        depth: usize,
        take: &mut dyn FnMut(usize, Edn) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.advance();
        loop {
            if !self.skip_blanks(depth)? {
                return Err(self.wrong(format!("the file ends where `{end}` was expected")));
            }
            if self.peek() == Some(end) {
                self.advance();
                return Ok(());
            }
            let line = self.line;
            take(line, self.edn(depth + 1)?)?;
        }
    }

    fn word(&mut self) -> String {
        let start = self.at;
        let ends = |next: char| next.is_whitespace() || ",;\"()[]{}".contains(next);
        while self.peek().is_some_and(|next| !ends(next)) {
            self.advance();
        }
        self.text[start..self.at].to_owned()
    }

    fn atom(&mut self) -> Result<Edn, ReadError> {
        let word = self.word();
        Ok(Edn::Value(match word.as_str() {
            "nil" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "" => return Err(self.wrong(format!("unexpected `{}`", self.peek().unwrap_or_default()))),
            number if number.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit()) => {
                let digits = number.trim_end_matches('N');
                let signed = digits.parse().map(Value::Int);
                match signed.or_else(|_| digits.parse().map(|number: u64| Value::from(number))) {
                    Ok(value) => value,
                    Err(_) => return Ok(Edn::Number(word)),
                }
            }
            symbol => Value::from(symbol),
        }))
    }

    fn string(&mut self) -> Result<Edn, ReadError> {
        self.advance();
        let mut text = String::new();
        loop {
            match self.advance() {
                None => return Err(self.wrong("the file ends within a string")),
                Some('"') => return Ok(Edn::Value(Value::from(text))),
                Some('\\') => match self.advance() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(other @ ('"' | '\\')) => text.push(other),
                    Some('u') => text.push(self.code()?),
                    _ => {
                        return Err(self
                            .wrong("expected \\n, \\t, \\r, \\\", \\\\ or \\u and four digits in a string"));
                    }
                },
                Some(other) => text.push(other),
            }
        }
    }

    /// The character of four hexadecimal digits, or of two times four if it takes two units of UTF-16.
    fn code(&mut self) -> Result<char, ReadError> {
        let mut units = vec![self.unit()?];
        if (0xd800..0xdc00).contains(&units[0]) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            units.push(self.unit()?);
        }
        match char::decode_utf16(units).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(self.wrong("half a character in a string")),
        }
    }

    fn unit(&mut self) -> Result<u16, ReadError> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.at += unit.map_or(0, |_| 4);
        unit.ok_or_else(|| self.wrong("expected four hexadecimal digits after \\u"))
    }
}
