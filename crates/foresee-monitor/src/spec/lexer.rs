//! Words and signs of a spec.
//!
//! Signs are single characters except for the few that are always written together; temporal operators (`[]`, `<*>`,
//! `(*)`) are put together by the formula parser, because the same brackets mean other things elsewhere. Comments run
//! from `//` to the end of the line or between `/*` and `*/`; they are kept for the formatter.

use super::diagnostic::{Diagnostic, Span};
use super::limits;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A word; variables of the program may have several: `a::OPENED`, `file.c:opened`, `work.count`, `slots[3].owner`.
    Name(String),
    /// A whole number.
    Number(i64),
    /// A time with its unit, `5s`, in nanoseconds.
    Time(u64),
    /// A text in double quotes, without them and with escapes resolved.
    Text(String),
    /// A sign.
    Sign(&'static str),
    /// The end of the file.
    End,
}

/// A token and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where.
    pub span: Span,
}

/// A comment, with its slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The text as written.
    pub text: String,
    /// Where.
    pub span: Span,
}

const SIGNS: [&str; 40] = [
    "<->", "+=", "-=", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "/\\", "\\/", "(", ")", "[", "]", "{",
    "}", "<", ">", ",", ";", ":", "@", "=", "|", "&", "~", "*", "+", "-", "?", "!", "/", "%", "^", "$", "#",
    ".",
];

/// Takes a spec's text apart. Whatever cannot be read is reported and skipped.
pub fn tokens(source: &str) -> (Vec<Token>, Vec<Comment>, Vec<Diagnostic>) {
    let mut lexer = Lexer { source, at: 0, tokens: Vec::new(), comments: Vec::new(), problems: Vec::new() };
    while lexer.at < source.len() {
        lexer.next();
    }
    lexer.tokens.push(Token { kind: TokenKind::End, span: source.len()..source.len() });
    (lexer.tokens, lexer.comments, lexer.problems)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    problems: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn next(&mut self) {
        let start = self.at;
        let rest = &self.source[start..];
        let Some(first) = rest.chars().next() else { return };
        let while_ = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        if first.is_whitespace() {
            self.at += first.len_utf8();
        } else if rest.starts_with("//") {
            self.comment(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            match rest.find("*/") {
                Some(end) => self.comment(end + 2),
                None => {
                    self.problem(start..start + 2, "this comment never ends", "needs a `*/`");
                    self.at = self.source.len();
                }
            }
        } else if first.is_alphabetic() || first == '_' {
            let length = name_length(rest);
            if length > limits::NAME {
                self.problem(
                    start..start + length,
                    "this name is too long",
                    "no name needs that many letters",
                );
                self.at += length;
                return;
            }
            self.token(length, TokenKind::Name(rest[..length].to_owned()));
        } else if first.is_ascii_digit() {
            let length = while_(|c| c.is_alphanumeric() || c == '_');
            match (parse_number(&rest[..length]), parse_time(&rest[..length])) {
                (Some(number), _) => self.token(length, TokenKind::Number(number)),
                (None, Some(time)) => self.token(length, TokenKind::Time(time)),
                (None, None) => {
                    self.problem(start..start + length, "not a number", "a whole number of at most 64 bits");
                    self.at += length;
                }
            }
        } else if first == '"' {
            self.text();
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.token(sign.len(), TokenKind::Sign(sign));
        } else {
            let end = start + first.len_utf8();
            self.problem(start..end, format!("`{first}` means nothing in a spec"), "unexpected character");
            self.at = end;
        }
    }

    fn text(&mut self) {
        let start = self.at;
        let mut text = String::new();
        let mut letters = self.source[start + 1..].char_indices();
        while let Some((offset, letter)) = letters.next() {
            match letter {
                '"' => return self.token(offset + 2, TokenKind::Text(text)),
                '\n' => break,
                '\\' => match letters.next() {
                    None | Some((_, '\n')) => break,
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, other)) => text.push(other),
                },
                other => text.push(other),
            }
        }
        let end = self.source[start..].find('\n').map_or(self.source.len(), |newline| start + newline);
        self.problem(start..end, "this text never ends", "needs a closing `\"` on the same line");
        self.at = end;
    }

    fn token(&mut self, length: usize, kind: TokenKind) {
        self.tokens.push(Token { kind, span: self.at..self.at + length });
        self.at += length;
    }

    fn comment(&mut self, length: usize) {
        let span = self.at..self.at + length;
        self.comments.push(Comment { text: self.source[span.clone()].to_owned(), span });
        self.at += length;
    }

    fn problem(&mut self, span: Span, message: impl Into<String>, label: &str) {
        if self.problems.len() < limits::PROBLEMS {
            self.problems.push(Diagnostic::error(span, message, label));
        }
    }
}

/// How long the name is that the text begins with. What belongs to it stands together: `ere: a` is no name.
fn name_length(text: &str) -> usize {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let word = |from: usize| text[from..].find(|c| !is_letter(c)).map_or(text.len(), |length| from + length);
    let mut end = word(0);
    loop {
        let rest = &text[end..];
        let in_file = text[..end].contains('.') && !text[..end].contains(':');
        if let Some(length) = element_length(rest) {
            end += length;
            continue;
        }
        let sign = match rest.as_bytes() {
            [b':', b':', ..] => 2,
            [b'.', ..] => 1,
            [b':', ..] if in_file => 1,
            _ => return end,
        };
        if !rest[sign..].starts_with(is_letter) {
            return end;
        }
        end = word(end + sign);
    }
}

/// How long `[3]` is, if the text begins with an element of an array.
fn element_length(text: &str) -> Option<usize> {
    let (number, _) = text.strip_prefix('[')?.split_once(']')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(number.len() + 2)
}

/// Units of time, in nanoseconds.
pub(super) const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

fn parse_time(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let (_, nanoseconds) = UNITS.into_iter().find(|(known, _)| *known == unit)?;
    u64::try_from(parse_number(number)?).ok()?.checked_mul(nanoseconds)
}

fn parse_number(text: &str) -> Option<i64> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}
