//! `foresee-rustc RUSTC ARGS…`: rustc for recorded programs, as cargo's `RUSTC_WRAPPER`. Nobody types it.
//!
//! Some crates ask in their build scripts whether a sanitizer is on (`CARGO_CFG_SANITIZE`), and then compile other code than their
//! users ship. Hiding that from all of them would be wrong: many do so because nothing can record assembly. So it is decided for each
//! whether its variant shows the program as it is, and for those in [`HIDDEN`] the configuration that the build script sets is taken back:
//!
//! | crate | variant for sanitizers | decision |
//! |---|---|---|
//! | `crossbeam-deque` and its sisters | a release store instead of a release fence, which orders less: every program whose work rayon steals would have races that it does not have; smaller bags of garbage | hidden |
//! | `parking_lot_core` | an acquire load of the same word instead of an acquire fence: orders the same | left |
//! | `portable-atomic` | the compiler's atomics instead of assembly, which nobody sees | left |
//! | `getrandom`, `rustix` | ask for MemorySanitizer only | left |
//! | `cc` | compiles C code with AddressSanitizer if Rust has it; the C compiler is foresee's own here | left |
//! | Rust's `Arc` (`cfg(sanitize)`) | came compiled with the toolchain, without a sanitizer: it has the fence that users ship | left |
//!
//! What C and C++ do with `__SANITIZE_THREAD__` is in the documentation of `compiler`.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;

use crate::error::{self, CliError, Severity, without_code};
use crate::exit;
use crate::processes;

/// The name under which foresee is this wrapper.
pub(crate) const NAME: &str = "foresee-rustc";

/// The variable that holds the user's own wrapper, which is called between us and rustc.
pub(crate) const USERS: &str = "FORESEE_RUSTC_WRAPPER";

/// Crates, by how their names begin, with what the configuration begins with that is taken back.
const HIDDEN: [(&str, &str); 1] = [("crossbeam", "crossbeam_sanitize")];

/// Runs the compiler in place of this program.
pub(crate) fn run(line: &[OsString]) -> ExitCode {
    let users = std::env::var_os(USERS).filter(|users| !users.is_empty());
    let kept = without_hidden(line);
    let whole: Vec<&OsStr> = users.as_deref().into_iter().chain(kept).collect();
    let Some((program, args)) = whole.split_first() else {
        error::print(Severity::Error, &format!("{NAME}: expected a compiler"));
        return ExitCode::from(exit::BAD_INPUT);
    };
    let why = processes::command(program).args(args).exec();
    let failed = CliError::Usage(format!("{}: cannot run: {}", program.display(), without_code(&why)));
    error::print(Severity::Error, &failed);
    ExitCode::from(failed.exit_code())
}

/// The command line without `--cfg` of what is hidden from its crate.
fn without_hidden(line: &[OsString]) -> Vec<&OsStr> {
    let text = |arg: &OsStr| arg.to_string_lossy().into_owned();
    let name = line.windows(2).find(|pair| pair[0] == "--crate-name").map(|pair| text(&pair[1]));
    let name = name.unwrap_or_default();
    let hidden: Vec<&str> =
        HIDDEN.iter().filter(|(start, _)| name.starts_with(start)).map(|&(_, hidden)| hidden).collect();
    let is_hidden = |cfg: &str| hidden.iter().any(|start| cfg.starts_with(start));
    let mut kept: Vec<&OsStr> = Vec::with_capacity(line.len());
    let mut args = line.iter().map(OsString::as_os_str).peekable();
    while let Some(arg) = args.next() {
        if arg == "--cfg" && args.peek().is_some_and(|&cfg| is_hidden(&text(cfg))) {
            args.next();
        } else if !text(arg).strip_prefix("--cfg=").is_some_and(is_hidden) {
            kept.push(arg);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(line: &str) -> String {
        let line: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        without_hidden(&line).join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn what_a_sanitizer_changes_is_taken_back_where_that_is_wrong() {
        let line = "rustc --crate-name crossbeam_deque a.rs --cfg feature=\"std\" --cfg crossbeam_sanitize_thread \
                    --cfg=crossbeam_sanitize -O";
        assert_eq!(kept(line), "rustc --crate-name crossbeam_deque a.rs --cfg feature=\"std\" -O");
        for other in
            ["rustc --crate-name mine --cfg crossbeam_sanitize", "rustc - --print=cfg", "rustc --cfg"]
        {
            assert_eq!(kept(other), other);
        }
    }
}
