//! All blind code of a program, whether it runs or not.

use std::path::PathBuf;
use std::rc::Rc;

use foresee_trace::raw::BlindCode;

use super::calls::ProgramCode;
use super::file_code::FileCode;
use crate::image::{Image, ImageError};

/// An instruction that does what the trace does not show.
#[derive(Clone, Debug)]
pub struct BlindPlace {
    /// Its address in the program's file.
    pub address: u64,
    /// The function that has it.
    pub function: String,
    /// What it does, or calls.
    pub what: BlindCode,
}

/// The blind code in the first of these files, which is a program or library built with instrumentation; the others are what it is
/// linked with.
///
/// # Errors
/// A file that cannot be read, or is no ELF file.
pub fn blind_code(files: &[PathBuf]) -> Result<Vec<BlindPlace>, ImageError> {
    let mut program = ProgramCode::default();
    for file in files {
        let image = Rc::new(Image::read(file)?);
        program.file(&file.to_string_lossy(), || FileCode::of(&image));
    }
    let Some(first) = files.first().and_then(|first| program.file(&first.to_string_lossy(), || None)) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for start in program.code(first).starts() {
        if program.instrumented(first, start.0 + 1) != Some(start) {
            continue;
        }
        let (function, name) = (program.function(first, start), program.code(first).name(start));
        let places = function.blind.iter().map(|(&at, what)| BlindPlace {
            address: function.flow.instructions[at].ip(),
            function: name.clone(),
            what: what.clone(),
        });
        found.extend(places);
    }
    found.sort_by_key(|place| place.address);
    Ok(found)
}
