//! `monitor!` and `include_spec!`: from a spec to a module for each of its properties.
//!
//! Both compile the spec with `foresee-monitor`. What is wrong becomes an error of the compiler: in `monitor!` at the tokens that are
//! meant, for a file with the part of the file shown. What is right becomes code: [`module`] writes the functions, [`tables`] the data.

mod module;
mod tables;
mod text;

use std::path::{Path, PathBuf};

use foresee_monitor::compile_with;
use foresee_monitor::spec::ast::Content;
use foresee_monitor::spec::diagnostic::{Diagnostic, Severity};
use foresee_monitor::spec::parser::parse;
use foresee_monitor::spec::raw_monitors::RawMonitors;
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
    let bodies = written.iter().flat_map(|property| &property.bodies);
    let refused = bodies.filter(|body| matches!(body.content, Content::Mttl(_))).map(|body| {
        let message = "`mttl` bodies are about what threads know, which is seen in recorded runs";
        let problem = Diagnostic::error(body.formalism.span.clone(), message, "not monitored in the program");
        problem.with_help("check a recorded run: `foresee check TRACE --spec FILE`")
    });
    let refused: Vec<Diagnostic> = refused.collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    let properties = compiled.properties.iter().zip(&written).enumerate();
    Ok(properties.map(|(nth, (property, ast))| module::written(property, ast, source, nth)).collect())
}
