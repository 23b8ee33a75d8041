//! `#[atomic]`: the body of a function is an atomic block.

use proc_macro::{Ident, Span, TokenStream, TokenTree};

use crate::function::{Function, Wrong, call};

pub(crate) fn annotated(argument: TokenStream, function: TokenStream) -> Result<TokenStream, Wrong> {
    let function = Function::of(function, "atomic", "use `atomic!` for a part of one")?;
    if let Some(at) = function.has("async") {
        let message = "an atomic block is one thread's, and after an `.await` another thread may go on: put `atomic!` \
                       around what is between";
        return Err(Wrong::new(at, message));
    }
    if let Some(at) = function.has("const") {
        let message = "`#[atomic]` functions report to the recorder when they run, so they cannot be `const`";
        return Err(Wrong::new(at, message));
    }
    let name = block_name(argument, &function.name)?;
    let begin = call("foresee::__block", name, Span::call_site());
    Ok(function.with_body(|body| begin.into_iter().chain(body).collect()))
}

/// `"name"` if it is given, otherwise the function's path.
fn block_name(argument: TokenStream, function: &Ident) -> Result<TokenStream, Wrong> {
    let mut given = argument.into_iter();
    match (given.next(), given.next()) {
        (None, _) => {
            let name = function.to_string();
            let name = name.strip_prefix("r#").unwrap_or(&name);
            let path = format!("::core::concat!(::core::module_path!(), \"::\", {name:?})");
            path.parse()
                .map_err(|_| Wrong::new(function.span(), "a block cannot be named after this function"))
        }
        (Some(TokenTree::Literal(name)), None) if name.to_string().starts_with('"') => {
            Ok(TokenTree::from(name).into())
        }
        (Some(other), _) => {
            let message = "expected nothing, or the name of the block: #[atomic(\"name\")]";
            Err(Wrong::new(other.span(), message))
        }
    }
}
