//! `#[mutator]` and `#[observer]`: calls of a method are logged, with arguments and result.
//!
//! The body becomes an argument of `foresee::__refined!`, which is the body again if nothing is logged, and otherwise makes a closure of it, so
//! that it can be left by `return` and `?`.

use proc_macro::{Literal, TokenStream, TokenTree};

use crate::function::{Function, Wrong};
use crate::template::{filled, parsed};

pub(crate) fn annotated(
    kind: &str,
    argument: TokenStream,
    function: TokenStream,
) -> Result<TokenStream, Wrong> {
    let attribute = kind.to_lowercase();
    let function = Function::of(function, &attribute, "annotate the methods of the structure")?;
    for word in ["async", "const"] {
        if let Some(at) = function.has(word) {
            return Err(Wrong::new(at, format!("calls of `{word}` functions cannot be logged")));
        }
    }
    let mut given = argument.into_iter();
    let name = match (given.next(), given.next()) {
        (None, _) => {
            let name = function.name.to_string();
            TokenTree::from(Literal::string(name.strip_prefix("r#").unwrap_or(&name)))
        }
        (Some(TokenTree::Literal(name)), None) if name.to_string().starts_with('"') => name.into(),
        (Some(other), _) => {
            let message = format!("expected nothing, or what the log calls it: #[{attribute}(\"name\")]");
            return Err(Wrong::new(other.span(), message));
        }
    };
    let mut list = TokenStream::new();
    for (nth, argument) in function.arguments()?.into_iter().enumerate() {
        let argument = TokenTree::from(argument).into();
        list.extend(filled(if nth == 0 { "A" } else { ", A" }, &[("A", &argument)]));
    }
    let gives = match function.gives() {
        Some(gives) => filled("-> G", &[("G", &gives)]),
        None => parsed("-> ()"),
    };
    let (kind, name) = (parsed(kind), name.into());
    Ok(function.with_body(|body| {
        let text = "::foresee::__refined! { KIND NAME [LIST] [GIVES] { BODY } }";
        let holes = [("KIND", &kind), ("NAME", &name), ("LIST", &list), ("GIVES", &gives), ("BODY", &body)];
        filled(text, &holes)
    }))
}
