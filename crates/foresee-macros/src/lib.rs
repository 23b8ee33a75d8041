//! The attributes of the `foresee` crate, which has their documentation and exports them.
//!
//! An attribute here only adds a statement to a function's body. For that the tokens of the function need not be understood, only
//! its `fn`, the name after it and the body, which is the last token: so there is no parser, and nothing to compile but this.

use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// Marks a function whose body is meant to be atomic; see `foresee::attr::atomic`.
#[proc_macro_attribute]
pub fn atomic(argument: TokenStream, function: TokenStream) -> TokenStream {
    match annotated(argument, function.clone()) {
        Ok(changed) => changed,
        // The function as it is keeps those who call it from failing, too.
        Err(wrong) => [wrong.into_tokens(), function].into_iter().collect(),
    }
}

/// What cannot be annotated, where, and why.
struct Wrong {
    at: Span,
    message: &'static str,
}

impl Wrong {
    fn into_tokens(self) -> TokenStream {
        call("core::compile_error", TokenTree::from(Literal::string(self.message)).into(), self.at)
    }
}

fn annotated(argument: TokenStream, function: TokenStream) -> Result<TokenStream, Wrong> {
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    let head = Head::of(&tokens)?;
    let name = block_name(argument, &head.name)?;
    let Some(TokenTree::Group(body)) = tokens.pop().filter(is_block) else {
        let at = head.name.span();
        return Err(Wrong { at, message: "`#[atomic]` needs a function with a body" });
    };
    let begin = call("foresee::__block", name, Span::call_site());
    let mut inside: Vec<TokenTree> = body.stream().into_iter().collect();
    let first = inner_attributes(&inside);
    inside.splice(first..first, begin);
    let mut changed = Group::new(Delimiter::Brace, inside.into_iter().collect());
    changed.set_span(body.span());
    tokens.push(changed.into());
    Ok(tokens.into_iter().collect())
}

/// What comes before the arguments of a function.
struct Head {
    name: Ident,
}

impl Head {
    fn of(tokens: &[TokenTree]) -> Result<Head, Wrong> {
        let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word.to_string() == "fn");
        let at_fn = tokens.iter().position(is_fn);
        let (Some(at_fn), Some(TokenTree::Ident(name))) = (at_fn, at_fn.and_then(|at| tokens.get(at + 1)))
        else {
            let at = tokens.first().map_or_else(Span::call_site, TokenTree::span);
            return Err(Wrong {
                at,
                message: "`#[atomic]` is for functions; for a part of one there is `atomic!`",
            });
        };
        for token in tokens.iter().take(at_fn) {
            let TokenTree::Ident(word) = token else { continue };
            let message = match word.to_string().as_str() {
                "async" => {
                    "an atomic block is one thread's, and after an `.await` another thread may go on: put `atomic!` \
                     around what is between"
                }
                "const" => {
                    "`#[atomic]` functions report to the recorder when they run, so they cannot be `const`"
                }
                _ => continue,
            };
            return Err(Wrong { at: word.span(), message });
        }
        Ok(Head { name: name.clone() })
    }
}

/// `"name"` if it is given, otherwise the function's path.
fn block_name(argument: TokenStream, function: &Ident) -> Result<TokenStream, Wrong> {
    let mut given = argument.into_iter();
    match (given.next(), given.next()) {
        (None, _) => {
            let name = function.to_string();
            let name = name.strip_prefix("r#").unwrap_or(&name);
            let path = format!("::core::concat!(::core::module_path!(), \"::\", {name:?})");
            path.parse().map_err(|_| Wrong {
                at: function.span(),
                message: "a function of this name cannot be named",
            })
        }
        (Some(TokenTree::Literal(name)), None) if name.to_string().starts_with('"') => {
            Ok(TokenTree::from(name).into())
        }
        (Some(other), _) => Err(Wrong {
            at: other.span(),
            message: "expected nothing, or the name of the block: #[atomic(\"name\")]",
        }),
    }
}

/// `::path! { tokens }`, at this place.
fn call(path: &str, tokens: TokenStream, at: Span) -> TokenStream {
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
    let is = |token: &TokenTree, wanted: char| matches!(token, TokenTree::Punct(found) if found.as_char() == wanted);
    let attributes = body.chunks_exact(3).take_while(|three| match three {
        [hash, bang, TokenTree::Group(_)] => is(hash, '#') && is(bang, '!'),
        _ => false,
    });
    3 * attributes.count()
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}
