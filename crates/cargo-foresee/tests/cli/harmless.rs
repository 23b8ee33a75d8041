//! Recording harms neither the program's files nor anybody else: whatever the program does with descriptors, and however it all ends.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Folder, end_if_it_hangs};

/// Takes the descriptor of the recording in several ways, and then does much that is recorded.
const TAKES_DESCRIPTORS: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    volatile long counter;
    int main(int count, char **args) {
        const char *how = count > 1 ? args[1] : "";
        int file = open("precious", O_RDWR), ours = 512;
        if (!strcmp(how, "raw-dup")) {
            if (syscall(SYS_dup2, file, ours) != ours) return 10;
        } else if (!strcmp(how, "raw-close")) {
            if (syscall(SYS_close_range, 3u, ~0u, 0u)) return 11;
            while ((file = syscall(SYS_openat, AT_FDCWD, "precious", O_RDWR)) < ours)
                if (file < 0) return 12;
        } else if (!strcmp(how, "dup")) {
            if (dup2(file, ours) != ours || write(ours, "ABCD", 4) != 4) return 13;
        }
        if (strcmp(how, "dup") && fcntl(ours, F_GETFD) < 0) return 14;
        if (*how && close(ours)) return 15;
        if (!strcmp(how, "raw-dup") && dup2(file, ours) != ours) return 16;
        for (int i = 0; i < 3000000; i++) counter++;
        return 0;
    }
"#;

#[test]
fn a_program_that_takes_the_descriptor_keeps_its_file() {
    let folder = Folder::new();
    folder.build("takes.c", TAKES_DESCRIPTORS);
    for (how, content, is_complete) in
        [("raw-dup", "12345678", false), ("raw-close", "12345678", false), ("dup", "ABCD5678", true)]
    {
        folder.write("precious", "12345678");
        let outcome = folder.foresee(&["record", "-o", "run.ft", "--", "./prog", how]);
        assert_eq!(outcome.code, Some(0), "{how}: {}", outcome.stderr);
        assert_eq!(folder.read("precious"), content.as_bytes(), "{how}");
        let says_so =
            outcome.stderr.contains("the program has closed or taken the recording's file descriptor");
        assert_eq!(says_so, !is_complete, "{how}: {}", outcome.stderr);
        let info = folder.foresee(&["trace", "info", "run.ft"]).stdout;
        assert_eq!(info.contains("recording's file descriptor"), !is_complete, "{how}: {info}");
    }
    let mode = folder.path("run.ft").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_signal_that_ends_us_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.build(
        "waits.c",
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) {
            puts(getenv("FORESEE_SECRET") ? "secret" : "ready");
            fflush(stdout);
            for (;;) pause();
        }
        "#,
    );
    let before = folder.files();
    let mut command = folder.command(&["run", "--", "./prog"]);
    command
        .env("TMPDIR", folder.path("."))
        .env("FORESEE_SECRET", "s")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    end_if_it_hangs(&child);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "the program does not get the secret");
    assert_ne!(folder.files(), before);
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.files(), before);
}
