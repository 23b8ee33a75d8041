//! The text of a spec that is written as tokens.
//!
//! Each token is put where it stands in the file, so the text looks as the user wrote it (without comments), and every part of it is
//! known to be of some tokens: that is where the compiler shows what is wrong. Some signs of specs, like the bracket of the interval
//! `[p, q)`, cannot be tokens of Rust; such a spec is written in one raw string.

use std::ops::Range;

use foresee_monitor::spec::diagnostic::Diagnostic;
use proc_macro::{Delimiter, Literal, Spacing, Span, TokenStream, TokenTree};

use crate::function::{Wrong, is_sign};
use crate::template::{parsed, quoted};

pub(super) struct Text {
    source: String,
    /// Where each token is in the source.
    tokens: Vec<(Range<usize>, Span)>,
    /// The tokens are no tokens of the spec: all of it is one string.
    is_string: bool,
}

impl Text {
    pub(super) fn of(spec: TokenStream) -> Result<Text, Wrong> {
        let tokens: Vec<TokenTree> = spec.into_iter().collect();
        if let [TokenTree::Literal(literal)] = &tokens[..] {
            let usage = "a spec in a string needs a raw one: monitor!(r#\"property … \"#)";
            let source = content(literal).ok_or_else(|| Wrong::new(literal.span(), usage))?;
            let tokens = vec![(0..source.len(), literal.span())];
            return Ok(Text { source, tokens, is_string: true });
        }
        let line = tokens.first().map_or(1, |token| token.span().line());
        let mut writer =
            Writer { source: String::new(), tokens: Vec::new(), line, column: 1, is_joint: false };
        writer.all(tokens);
        Ok(Text { source: writer.source, tokens: writer.tokens, is_string: false })
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// The problem as an error of the compiler.
    pub(super) fn error(&self, problem: &Diagnostic) -> TokenStream {
        if self.is_string {
            let at = self.tokens.first().map_or_else(Span::call_site, |(_, span)| *span);
            return Wrong::new(at, problem.rendered("spec", &self.source)).into_tokens();
        }
        let Range { start, end } = problem.span.clone();
        let meant =
            |(range, _): &&(Range<usize>, Span)| range.end > start && range.start < end.max(start + 1);
        let last = self.tokens.last().map_or_else(Span::call_site, |(_, span)| *span);
        let first_meant = self.tokens.iter().find(meant).map_or(last, |(_, span)| *span);
        let last_meant = self.tokens.iter().rfind(meant).map_or(last, |(_, span)| *span);
        let mut message = problem.message.clone();
        if !message.contains(&problem.label) {
            message += &format!(": {}", problem.label);
        }
        if let Some(help) = &problem.help {
            message += &format!("\nhelp: {help}");
        }
        // An error stands where its first and last tokens do.
        let error = parsed(&format!("::core::compile_error!{{ {} }}", quoted(&message)));
        let place = |mut token: TokenTree| {
            token.set_span(if matches!(token, TokenTree::Group(_)) { last_meant } else { first_meant });
            token
        };
        error.into_iter().map(place).collect()
    }
}

/// What is between the quotes of a string without escapes.
pub(super) fn content(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    if let Some(raw) = text.strip_prefix('r') {
        let inner = raw.trim_matches('#');
        return Some(inner.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('\\')).then(|| inner.to_owned())
}

struct Writer {
    source: String,
    tokens: Vec<(Range<usize>, Span)>,
    /// Where the next letter would stand.
    line: usize,
    column: usize,
    /// The last token was a sign directly before another.
    is_joint: bool,
}

impl Writer {
    fn all(&mut self, tokens: Vec<TokenTree>) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            // Comments for documentation come as attributes.
            if is_sign(&token, '#')
                && matches!(tokens.peek(), Some(TokenTree::Group(group)) if is_doc(&group.stream()))
            {
                tokens.next();
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.one(open, group.span_open());
                    self.all(group.stream().into_iter().collect());
                    self.one(close, group.span_close());
                }
                TokenTree::Punct(sign) => {
                    self.one(&sign.as_char().to_string(), sign.span());
                    self.is_joint = sign.spacing() == Spacing::Joint;
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) => self.one(&token.to_string(), token.span()),
            }
        }
    }

    fn one(&mut self, text: &str, span: Span) {
        let start = span.start();
        while self.line < start.line() {
            self.source.push('\n');
            (self.line, self.column) = (self.line + 1, 1);
        }
        if self.line == start.line() && self.column <= start.column() {
            self.source.extend(std::iter::repeat_n(' ', start.column() - self.column));
            self.column = start.column();
        } else if !self.is_joint {
            // A token from elsewhere, by another macro.
            self.source.push(' ');
        }
        let from = self.source.len();
        self.source.push_str(text);
        self.tokens.push((from..self.source.len(), span));
        self.column += text.chars().count();
        self.line += text.matches('\n').count();
        self.is_joint = false;
    }
}

fn is_doc(attribute: &TokenStream) -> bool {
    matches!(attribute.clone().into_iter().next(), Some(TokenTree::Ident(name)) if name.to_string() == "doc")
}
