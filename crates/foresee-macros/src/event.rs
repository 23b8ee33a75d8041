//! `#[event(name(arguments))]`: calls of a function are events.
//!
//! The event comes before the body, or, if `result` is among its arguments, after it: then the body becomes a closure, so that it
//! can be left by `return` and `?`, and the other arguments are looked at before it runs.

use proc_macro::{Delimiter, TokenStream, TokenTree};

use crate::function::{Function, Wrong, is_sign};
use crate::template::{filled, parsed};

const USAGE: &str =
    "expected the event: #[event(name)], #[event(name(self))] or #[event(name(self, result))]";

pub(crate) fn annotated(argument: TokenStream, function: TokenStream) -> Result<TokenStream, Wrong> {
    let function = Function::of(function, "event", "use `event!` for a part of one")?;
    let Called { name, arguments } = Called::of(argument, &function)?;
    for word in ["async", "const"] {
        if let Some(at) = function.has(word) {
            let message = format!("calls of `{word}` functions cannot be events: put `event!` into the body");
            return Err(Wrong::new(at, message));
        }
    }
    if !arguments.iter().any(|argument| mentions(argument, "result")) {
        let list = arguments.iter().map(|argument| filled(", A", &[("A", argument)])).collect();
        let event = filled("::foresee::event!(N L);", &[("N", &name), ("L", &list)]);
        return Ok(function.with_body(|body| event.into_iter().chain(body).collect()));
    }
    let (mut before, mut list) = (TokenStream::new(), TokenStream::new());
    for (index, argument) in arguments.iter().enumerate() {
        if mentions(argument, "result") {
            list.extend(filled(", A", &[("A", argument)]));
        } else {
            let known = parsed(&format!("__foresee_argument_{index}"));
            let text = "let K = ::foresee::IntoArg::into_arg(A);";
            before.extend(filled(text, &[("K", &known), ("A", argument)]));
            list.extend(filled(", K", &[("K", &known)]));
        }
    }
    // A closure's type cannot be written with `impl`; then the compiler has to find it out.
    let gives = match function.gives() {
        Some(gives) if mentions(&gives, "impl") => TokenStream::new(),
        Some(gives) => filled("-> G", &[("G", &gives)]),
        None => parsed("-> ()"),
    };
    Ok(function.with_body(|body| {
        let text = "BEFORE let result = (|| GIVES { BODY })(); ::foresee::event!(NAME LIST); result";
        let holes =
            [("BEFORE", &before), ("GIVES", &gives), ("BODY", &body), ("NAME", &name), ("LIST", &list)];
        filled(text, &holes)
    }))
}

/// `name` or `name(arguments)`.
struct Called {
    name: TokenStream,
    arguments: Vec<TokenStream>,
}

impl Called {
    fn of(argument: TokenStream, function: &Function) -> Result<Called, Wrong> {
        let mut tokens = argument.into_iter();
        let name = match tokens.next() {
            Some(name @ (TokenTree::Ident(_) | TokenTree::Literal(_))) => name.into(),
            Some(other) => return Err(Wrong::new(other.span(), USAGE)),
            None => return Err(Wrong::new(function.name.span(), USAGE)),
        };
        let list = match (tokens.next(), tokens.next()) {
            (None, _) => return Ok(Called { name, arguments: Vec::new() }),
            (Some(TokenTree::Group(list)), None) if list.delimiter() == Delimiter::Parenthesis => list,
            (_, Some(wrong)) | (Some(wrong), _) => return Err(Wrong::new(wrong.span(), USAGE)),
        };
        let tokens: Vec<TokenTree> = list.stream().into_iter().collect();
        let arguments = tokens.split(|token| is_sign(token, ',')).filter(|argument| !argument.is_empty());
        Ok(Called { name, arguments: arguments.map(|argument| lent(argument, function)).collect() })
    }
}

/// An argument that is a reference is not given away: the body needs it, too.
fn lent(argument: &[TokenTree], function: &Function) -> TokenStream {
    let tokens: TokenStream = argument.iter().cloned().collect();
    match argument {
        [TokenTree::Ident(name)] if function.is_reference(&name.to_string()) => {
            filled("&*A", &[("A", &tokens)])
        }
        [TokenTree::Ident(name)] if name.to_string() == "self" => filled("&A", &[("A", &tokens)]),
        _ => tokens,
    }
}

fn mentions(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => word.to_string() == name,
        TokenTree::Group(group) => mentions(&group.stream(), name),
        _ => false,
    })
}
