//! `monitor!` and `include_spec!`: from a spec to a module for each of its properties.
//!
//! Both compile the spec with `foresee-monitor`. What is wrong becomes an error of the compiler: in `monitor!` at the tokens that are
//! meant, for a file with the part of the file shown. What is right becomes code: [`module`] writes the functions, [`tables`] the data.

mod module;
mod tables;
mod text;

use std::path::{Path, PathBuf};

use foresee_monitor::spec::ast::{Body, Content, Property};
use foresee_monitor::spec::diagnostic::{Diagnostic, Severity};
use foresee_monitor::spec::parser::parse;
use foresee_monitor::spec::raw_monitors::RawMonitors;
use foresee_monitor::{compile_with, property};
use proc_macro::{Span, TokenStream, TokenTree};

use crate::function::Wrong;
use crate::template::parsed;
use text::Text;

/// `monitor! { property … }`
pub(crate) fn inline(spec: TokenStream) -> TokenStream {
    let text = match Text::of(spec) {
        Ok(text) => text,
        Err(wrong) => return wrong.into_tokens(),
    };
    match modules(text.source()) {
        Ok(modules) => modules,
        Err(problems) => problems.iter().map(|problem| text.error(problem)).collect(),
    }
}

/// `include_spec!("file.rv")`
pub(crate) fn included(path: TokenStream) -> TokenStream {
    include(path).unwrap_or_else(Wrong::into_tokens)
}

fn include(path: TokenStream) -> Result<TokenStream, Wrong> {
    let tokens: Vec<TokenTree> = path.into_iter().collect();
    let usage = "expected the path of a spec file in quotes, from the folder of this file";
    let [TokenTree::Literal(literal)] = &tokens[..] else {
        let at = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        return Err(Wrong::new(at, usage));
    };
    let at = literal.span();
    let written = text::content(literal).ok_or_else(|| Wrong::new(at, usage))?;
    let path = resolved(Path::new(&written));
    let source = std::fs::read_to_string(&path)
        .map_err(|why| Wrong::new(at, format!("{}: cannot read: {why}", path.display())))?;
    // The compiler looks at the file again when it changes.
    let dependency = format!("const _: &[u8] = ::core::include_bytes!({:?});", path.display().to_string());
    let mut code = parsed(&dependency);
    code.extend(modules(&source).unwrap_or_else(|problems| {
        let errors = problems.iter().map(|problem| Wrong::new(at, problem.rendered(&written, &source)));
        errors.flat_map(Wrong::into_tokens).collect()
    }));
    Ok(code)
}

/// The path as the compiler takes it: from the folder of the file that has the macro, or else from that of the package.
fn resolved(path: &Path) -> PathBuf {
    let beside =
        Span::call_site().local_file().and_then(|file| file.parent().map(|folder| folder.join(path)));
    let in_package = || {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        package.join(path)
    };
    let found = beside.filter(|path| path.exists()).unwrap_or_else(in_package);
    std::path::absolute(&found).unwrap_or(found)
}

/// A module for each property, or all that is wrong.
fn modules(source: &str) -> Result<TokenStream, Vec<Diagnostic>> {
    let mut monitors = RawMonitors::default();
    monitors.stand_in(source);
    let compiled = compile_with(source, &monitors).map_err(|mut problems| {
        problems.retain(|problem| problem.severity == Severity::Error);
        problems
    })?;
    let written = parse(source).properties;
    let is_mttl = |body: &&Body| matches!(body.content, Content::Mttl(_));
    let is_mixed = |property: &&Property| {
        property.bodies.iter().filter(is_mttl).count() % property.bodies.len().max(1) != 0
    };
    let refused = written.iter().filter(is_mixed).map(|property| {
        let message = "in a program, a property has `mttl` bodies only, or none";
        let problem = Diagnostic::error(property.name.span.clone(), message, "has both");
        problem.with_help("make two properties of it")
    });
    let of_recordings = compiled.properties.iter().zip(&written).filter_map(|(property, ast)| {
        let (message, label, help) = if !property.texts.is_empty() {
            let message = "in a program, values of events are not compared with texts";
            (message, "has a text", "compare in Rust, and report the event if it counts")
        } else if property.is_timed() {
            let message = "in a program, bounds of time are not monitored";
            (message, "has a bound of time", "give the event its time as a value, and compare it in a guard")
        } else if property.asks_for_fields() {
            let message = "in a program, fields of objects are not read";
            (message, "asks for a field", "give the event the field as a value")
        } else {
            return None;
        };
        Some(Diagnostic::error(ast.name.span.clone(), message, label).with_help(help))
    });
    let refused = refused.chain(of_recordings);
    let refused: Vec<Diagnostic> = refused.collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    let properties = compiled.properties.iter().zip(&written).enumerate();
    let module =
        |(nth, (property, ast)): (usize, (&property::Property, &Property))| match property.mttl.is_empty() {
            true => module::written(property, ast, source, nth),
            false => module::knowledge(property, source, nth),
        };
    Ok(properties.map(module).collect())
}
