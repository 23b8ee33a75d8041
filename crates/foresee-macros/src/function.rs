//! Functions as far as attributes need to understand them.
//!
//! An attribute here only adds statements to a function's body. For that the tokens of the function need not be understood, only
//! its `fn`, the name after it, which arguments are references, and the body, which is the last token: so there is no parser.

use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// What cannot be annotated, where, and why.
pub(crate) struct Wrong {
    pub(crate) at: Span,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn new(at: Span, message: impl Into<String>) -> Wrong {
        Wrong { at, message: message.into() }
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        call("core::compile_error", TokenTree::from(Literal::string(&self.message)).into(), self.at)
    }
}

/// A function, taken apart.
pub(crate) struct Function {
    /// All tokens before the body.
    pub(crate) head: Vec<TokenTree>,
    /// Where `fn` is among them.
    at_fn: usize,
    pub(crate) name: Ident,
    body: Group,
}

impl Function {
    /// Takes a function apart for the attribute of this name.
    pub(crate) fn of(tokens: TokenStream, attribute: &str, instead: &str) -> Result<Function, Wrong> {
        let mut head: Vec<TokenTree> = tokens.into_iter().collect();
        let at_fn = head.iter().position(|token| is_word(token, "fn"));
        let (Some(at_fn), Some(TokenTree::Ident(name))) = (at_fn, at_fn.and_then(|at| head.get(at + 1)))
        else {
            let at = head.first().map_or_else(Span::call_site, TokenTree::span);
            return Err(Wrong::new(at, format!("`#[{attribute}]` is for functions; {instead}")));
        };
        let name = name.clone();
        let Some(TokenTree::Group(body)) = head.pop().filter(is_block) else {
            return Err(Wrong::new(name.span(), format!("`#[{attribute}]` needs a function with a body")));
        };
        Ok(Function { head, at_fn, name, body })
    }

    /// The word before `fn`, if it is there: `async`, `const`.
    pub(crate) fn has(&self, word: &str) -> Option<Span> {
        self.head[..self.at_fn].iter().find(|token| is_word(token, word)).map(TokenTree::span)
    }

    /// The tokens between `->` and the body or `where`, if the function gives something back.
    pub(crate) fn gives(&self) -> Option<TokenStream> {
        let arrow = self.head.windows(2).rposition(|two| is_sign(&two[0], '-') && is_sign(&two[1], '>'))?;
        let is_where = |token: &TokenTree| is_word(token, "where");
        // An arrow within `where` belongs to a closure's type.
        if self.head[..arrow].iter().skip(self.at_fn).any(is_where) {
            return None;
        }
        let rest = &self.head[arrow + 2..];
        let end = rest.iter().position(is_where).unwrap_or(rest.len());
        Some(rest[..end].iter().cloned().collect())
    }

    /// The names of its arguments, without `self`; an error for one that is a pattern.
    pub(crate) fn arguments(&self) -> Result<Vec<Ident>, Wrong> {
        let is_list = |token: &&TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
        let Some(TokenTree::Group(list)) = self.head[self.at_fn..].iter().find(is_list) else {
            return Ok(Vec::new());
        };
        let (mut names, mut depth, mut is_name) = (Vec::new(), 0_i32, true);
        let mut is_lifetime = false;
        for token in list.stream() {
            if std::mem::replace(&mut is_lifetime, is_sign(&token, '\'')) {
                continue;
            }
            match &token {
                TokenTree::Ident(word) if is_name => match word.to_string().as_str() {
                    "mut" => {}
                    "self" => is_name = false,
                    _ => {
                        names.push(word.clone());
                        is_name = false;
                    }
                },
                TokenTree::Punct(sign) if is_name && matches!(sign.as_char(), '&' | '\'') => {}
                _ if is_name => {
                    return Err(Wrong::new(token.span(), "an argument that is logged needs a name"));
                }
                // A comma within `Map<K, V>` is not between arguments.
                TokenTree::Punct(sign) => match sign.as_char() {
                    '<' => depth += 1,
                    '>' => depth -= 1,
                    ',' if depth <= 0 => (is_name, depth) = (true, 0),
                    _ => {}
                },
                _ => {}
            }
        }
        Ok(names)
    }

    /// Whether this argument is declared as a reference: `&self`, `name: &mut T`.
    pub(crate) fn is_reference(&self, argument: &str) -> bool {
        let is_list = |token: &&TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
        let Some(TokenTree::Group(list)) = self.head[self.at_fn..].iter().find(is_list) else { return false };
        let tokens: Vec<TokenTree> = list.stream().into_iter().collect();
        let Some(at) = tokens.iter().position(|token| is_word(token, argument)) else { return false };
        let is_typed = tokens.get(at + 1).is_some_and(|token| is_sign(token, ':'));
        match is_typed {
            true => tokens.get(at + 2).is_some_and(|token| is_sign(token, '&')),
            false => tokens[..at].iter().any(|token| is_sign(token, '&')),
        }
    }

    /// The function with a body made of its own: its inner attributes are kept in front.
    pub(crate) fn with_body(self, change: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
        let mut inside: Vec<TokenTree> = self.body.stream().into_iter().collect();
        let rest = inside.split_off(inner_attributes(&inside));
        inside.extend(change(rest.into_iter().collect()));
        let mut changed = Group::new(Delimiter::Brace, inside.into_iter().collect());
        changed.set_span(self.body.span());
        self.head.into_iter().chain([changed.into()]).collect()
    }
}

/// `::path! { tokens }`, at this place.
pub(crate) fn call(path: &str, tokens: TokenStream, at: Span) -> TokenStream {
    let start: TokenStream = format!("::{path}!").parse().unwrap_or_default();
    let group = Group::new(Delimiter::Brace, tokens);
    let whole = start.into_iter().chain([group.into()]).map(|mut token| {
        token.set_span(at);
        token
    });
    whole.collect()
}

/// How many tokens at the start of a body are attributes of it: `#![allow(…)]`.
fn inner_attributes(body: &[TokenTree]) -> usize {
    let attributes = body.chunks_exact(3).take_while(|three| match three {
        [hash, bang, TokenTree::Group(_)] => is_sign(hash, '#') && is_sign(bang, '!'),
        _ => false,
    });
    3 * attributes.count()
}

fn is_word(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word.to_string() == wanted)
}

pub(crate) fn is_sign(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == wanted)
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
