//! The macros of the `foresee` crate, which has their documentation and exports them.
//!
//! `#[atomic]`, `#[event]`, `#[mutator]` and `#[observer]` add statements to functions. `monitor!` and `include_spec!` compile specs while the program is
//! compiled: they use `foresee-monitor` for it, so that a spec means the same here and everywhere else.

mod atomic;
mod event;
mod function;
mod method;
#[cfg(feature = "monitor")]
mod monitor;
mod template;

use proc_macro::TokenStream;

use function::Wrong;

/// Marks a function whose body is meant to be atomic; see `foresee::attr::atomic`.
#[proc_macro_attribute]
pub fn atomic(argument: TokenStream, function: TokenStream) -> TokenStream {
    or_as_it_is(atomic::annotated(argument, function.clone()), function)
}

/// Reports the calls of a function as events; see `foresee::attr::event`.
#[proc_macro_attribute]
pub fn event(argument: TokenStream, function: TokenStream) -> TokenStream {
    or_as_it_is(event::annotated(argument, function.clone()), function)
}

/// Logs the calls of a method that may change its structure; see `foresee::attr::mutator`.
#[proc_macro_attribute]
pub fn mutator(argument: TokenStream, function: TokenStream) -> TokenStream {
    or_as_it_is(method::annotated("Mutator", argument, function.clone()), function)
}

/// Logs the calls of a method that never changes its structure; see `foresee::attr::observer`.
#[proc_macro_attribute]
pub fn observer(argument: TokenStream, function: TokenStream) -> TokenStream {
    or_as_it_is(method::annotated("Observer", argument, function.clone()), function)
}

/// Monitors properties in this program; see `foresee::monitor!`.
#[cfg(feature = "monitor")]
#[proc_macro]
pub fn monitor(spec: TokenStream) -> TokenStream {
    monitor::inline(spec)
}

/// Monitors the properties of a file in this program; see `foresee::include_spec!`.
#[cfg(feature = "monitor")]
#[proc_macro]
pub fn include_spec(path: TokenStream) -> TokenStream {
    monitor::included(path)
}

/// The function as it is keeps those who call it from failing, too.
fn or_as_it_is(changed: Result<TokenStream, Wrong>, function: TokenStream) -> TokenStream {
    changed.unwrap_or_else(|wrong| [wrong.into_tokens(), function].into_iter().collect())
}
