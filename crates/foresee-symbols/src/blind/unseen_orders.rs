//! Whether a program may order threads in ways that its trace does not show, known before it runs.
//!
//! Where such code runs, the moment of each record counts, and so does the clock that records are ordered by: the counter tells moments exactly, and costs more the
//! more processors there are. So who starts a program asks here first. The answer need not be exact: either clock gives a true trace, but with the other one findings may
//! become candidates, or the recording slower. Libraries are not looked at, as the runtime does that when they are loaded.
//!
//! **Cost.** All functions of the program's file are decoded once: a second for some twenty megabytes of code.

use std::num::NonZero;
use std::path::Path;
use std::rc::Rc;

use super::callee::callee;
use super::calls::{FileId, ProgramCode};
use super::effects::Effect;
use super::file_code::{Callee, FileCode};
use super::flow::decode;
use crate::demangle::demangled;
use crate::image::{Image, ImageError};

/// The variable that tells the runtime by which clock to order what it records.
pub const CLOCK_VARIABLE: &str = "FORESEE_CLOCK";
/// With so many processors, a counter that all threads share costs more than taking the time.
const MANY_PROCESSORS: usize = 4;

/// By which clock a program is best recorded on this machine, as the runtime is told.
///
/// # Errors
/// A file that cannot be read, or is no ELF file.
pub fn best_clock(path: &Path) -> Result<&'static str, ImageError> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let is_time = processors >= MANY_PROCESSORS && !may_order_unseen(path)?;
    Ok(if is_time { "time" } else { "counter" })
}

/// Whether instrumented code of this program has instructions that order threads, or calls functions that may, or the program has other code that does.
///
/// # Errors
/// A file that cannot be read, or is no ELF file.
pub fn may_order_unseen(path: &Path) -> Result<bool, ImageError> {
    let image = Rc::new(Image::read(path)?);
    let mut program = ProgramCode::default();
    let file = program.file(&path.to_string_lossy(), || FileCode::of(&image));
    Ok(file.is_none_or(|file| {
        program.has_assembly(file) || program.has_plain_code(file) || program.calls_orders(file)
    }))
}

impl ProgramCode {
    /// Whether instrumented code calls functions of libraries that may order threads.
    fn calls_orders(&self, file: FileId) -> bool {
        let code = self.code(file);
        let orders = |name: &str| {
            let effect = self.effect_of(&demangled(name));
            matches!(effect, Some(Effect::Orders | Effect::Atomics))
        };
        let imports: Vec<&str> = code.imports().filter(|name| orders(name)).collect();
        !imports.is_empty()
            && code.starts().into_iter().filter(|&start| !code.is_runtime(start)).any(|start| {
                let instructions = decode(code, start);
                let mut calls = (0..instructions.len()).filter(|&at| instructions[at].is_call_near() || instructions[at].is_call_near_indirect());
                let is_such = |at| matches!(callee(code, &instructions, at), Callee::Import(name) if imports.contains(&&*name));
                calls.any(is_such) && self.records_entry(file, &instructions)
            })
    }
}
