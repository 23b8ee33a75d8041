//! Code with holes: written as text, filled with tokens that keep their places.

use proc_macro::{Group, TokenStream, TokenTree};

/// The tokens of this text.
pub(crate) fn parsed(text: &str) -> TokenStream {
    // Only what this crate wrote comes here; should it be wrong, the compiler shows it where the macro is used.
    text.parse().unwrap_or_else(|_| {
        let message = TokenTree::from(proc_macro::Literal::string(&format!(
            "foresee has generated invalid code: {text}"
        )));
        crate::function::call("core::compile_error", message.into(), proc_macro::Span::call_site())
    })
}

/// A text as it is written in Rust.
#[cfg(feature = "monitor")]
pub(crate) fn quoted(text: &str) -> String {
    proc_macro::Literal::string(text).to_string()
}

/// The tokens of this text, with tokens in place of names.
pub(crate) fn filled(text: &str, holes: &[(&str, &TokenStream)]) -> TokenStream {
    fill(parsed(text), holes)
}

fn fill(tokens: TokenStream, holes: &[(&str, &TokenStream)]) -> TokenStream {
    let one = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let mut filled = Group::new(group.delimiter(), fill(group.stream(), holes));
            filled.set_span(group.span());
            TokenTree::from(filled).into()
        }
        TokenTree::Ident(name) => {
            let written = name.to_string();
            let hole = holes.iter().find(|(hole, _)| *hole == written);
            hole.map_or_else(|| TokenTree::from(name).into(), |(_, tokens)| (*tokens).clone())
        }
        other => TokenStream::from(other),
    };
    tokens.into_iter().flat_map(one).collect()
}
