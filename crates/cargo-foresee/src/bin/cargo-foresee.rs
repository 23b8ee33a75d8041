//! `cargo foresee …`: the same program as a cargo subcommand.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_foresee::main()
}
