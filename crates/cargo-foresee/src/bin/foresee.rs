//! `foresee …`: the program by its own name.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_foresee::main()
}
