//! Runs the real program.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::schema::validate_reports;

/// What the program did.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// It did what was asked, and said nothing on standard error.
    #[track_caller]
    pub(crate) fn success(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "stdout: {}", self.stdout);
        self.stdout
    }

    /// It exited with `code` after one line on standard error that contains all of `parts`.
    #[track_caller]
    pub(crate) fn one_message(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "one line expected: {}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` expected in: {}", self.stderr);
        }
    }
}

/// A folder to run in, removed at the end.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        let bytes = fs::read(self.path(name)).unwrap();
        if name.ends_with(".json") {
            validate_reports(std::str::from_utf8(&bytes).unwrap());
        }
        bytes
    }

    /// Makes it a package of this name, with no sources yet; `rest` is what its manifest says behind that.
    pub(crate) fn package(&self, name: &str, rest: &str) {
        fs::create_dir(self.path("src")).unwrap();
        let manifest = format!("[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}");
        self.write("Cargo.toml", manifest);
    }

    /// The same for a package `app` that uses the SDK, in the versions that this workspace has, which are here.
    pub(crate) fn package_with_sdk(&self, features: &str) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let sdk = root.join("crates/foresee");
        self.package(
            "app",
            &format!("[dependencies]\nforesee = {{ path = {sdk:?}{features} }}\n[workspace]\n"),
        );
        fs::copy(root.join("Cargo.lock"), self.path("Cargo.lock")).unwrap();
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foresee"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn foresee(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args).output().unwrap())
    }

    /// With these bytes on standard input, through a pipe.
    pub(crate) fn foresee_fed(&self, args: &[&str], input: &[u8]) -> Outcome {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The program may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        outcome(child.wait_with_output().unwrap())
    }

    /// A generated trace of 20,000 events.
    pub(crate) fn generate(&self, name: &str) {
        self.foresee(&["trace", "gen", "--events", "20k", "-o", name]).success();
    }
}

pub(crate) fn outcome(output: std::process::Output) -> Outcome {
    let stdout = String::from_utf8(output.stdout).unwrap();
    validate_reports(&stdout);
    Outcome { code: output.status.code(), stdout, stderr: String::from_utf8(output.stderr).unwrap() }
}

/// A trace that comes with the repository.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces").join(name)
}

/// Ends a process that a test waits for, if it is still there long after the test should have been done: the test then fails.
pub(crate) fn end_if_it_hangs(process: &Child) {
    let id = process.id().to_string();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(120));
        let _ = Command::new("kill").args(["-9", &id]).status();
    });
}
