//! Programs that cannot be recorded: what is wrong, and what to do.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

use crate::programs::UNGUARDED;
use crate::support::Folder;

impl Folder {
    fn program(&self, name: &str, bytes: &[u8]) {
        self.write(name, bytes);
        fs::set_permissions(self.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[track_caller]
    fn refused(&self, program: &str, parts: &[&str]) {
        self.foresee(&["run", "--", program]).one_message(2, &[&[program], parts].concat());
    }
}

#[test]
fn other_things_than_programs() {
    let folder = Folder::new();
    folder.program("script", b"#!/bin/sh\ntrue\n");
    folder.refused(
        "./script",
        &["recorded nothing: it is a script", "build those programs with `cargo foresee"],
    );
    folder.program("orphan", b"#!/no/such/shell\ntrue\n");
    folder.refused("./orphan", &["cannot run: No such file", "the interpreter that it names is not"]);
    folder.program("text", b"hello\n");
    folder.refused("./text", &["cannot run: Exec format error; it is no program"]);
}

#[test]
fn programs_of_other_systems() {
    let folder = Folder::new();
    let native = fs::read("/bin/true").unwrap();
    for (class, machine, system) in [(2, 183, "aarch64"), (1, 3, "32-bit x86"), (2, 243, "RISC-V")] {
        let mut other = native.clone();
        other[4] = class;
        other[18] = machine;
        folder.program("other", &other);
        // There may be an emulator, which finds that it is none of these either.
        let outcome = folder.foresee(&["run", "--", "./other"]);
        let message = format!("it is a program for {system}; programs can be recorded on x86_64");
        assert!(outcome.code == Some(2) && outcome.stderr.contains(&message), "{}", outcome.stderr);
    }
}

#[test]
fn static_programs() {
    let folder = Folder::new();
    folder.write("m.c", "int main(void) { return 0; }\n");
    let built =
        Command::new("cc").args(["-static", "m.c", "-o", "prog"]).current_dir(folder.path(".")).output();
    if built.is_ok_and(|built| built.status.success()) {
        folder.refused("./prog", &["recorded nothing: it is linked statically", "without -static"]);
    }
}

/// Only root can give programs away.
#[test]
fn programs_with_the_rights_of_another_user() {
    let folder = Folder::new();
    folder.build("unguarded.c", UNGUARDED);
    let program = folder.path("prog");
    let nobody = 65_534;
    if chown(&program, Some(nobody), None).is_err() {
        return;
    }
    fs::set_permissions(&program, PermissionsExt::from_mode(0o4755)).unwrap();
    let outcome = folder.foresee(&["run", "--", "./prog"]);
    let told =
        outcome.stderr.contains("prog: recorded nothing: it runs with other rights than yours (setuid");
    // Temporary folders may be where such rights do not count.
    assert!(told || outcome.code == Some(66), "{}", outcome.stderr);
    assert!(!told || outcome.stderr.starts_with("foresee: the program has other rights than its user"));
}

#[test]
fn a_program_that_is_gone_when_it_is_looked_at() {
    let folder = Folder::new();
    let text = UNGUARDED.replace("    return 0;", "    remove(\"prog\");\n    return 0;");
    folder.build("unguarded.c", &text);
    let outcome = folder.foresee(&["run", "--", "./prog"]);
    let warned = "prog: cannot read: No such file or directory; what it did has no names and lines";
    assert_eq!(outcome.stderr.matches(warned).count(), 1, "{}", outcome.stderr);
    assert_eq!(outcome.code, Some(66));
}

/// What a newer runtime writes, as far as it is looked at: the first bytes, and the version.
#[test]
fn programs_of_another_foresee() {
    let folder = Folder::new();
    let raw = r"\211FORraw\n\347\003\000\000\000\000\000\000";
    folder.program("newer", format!("#!/bin/sh\nprintf '{raw}' > \"$FORESEE_RAW\"\n").as_bytes());
    let outcome = folder.foresee(&["run", "--", "./newer"]);
    outcome.one_message(2, &["built by another version of foresee", "format 999", "build it again"]);
}
