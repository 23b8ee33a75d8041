//! The runtime at the limits of what it may do: programs with other rights, programs that the kernel forbids much, files that were cut off.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::support::{Folder, end_if_it_hangs, outcome};

/// Writes much, and tells whether it has other rights than its user.
const WRITES: &str = r#"
    #include <stdio.h>
    #include <sys/auxv.h>
    volatile long counter;
    int main(void) {
        for (int i = 0; i < 1000000; i++) counter++;
        puts(getauxval(AT_SECURE) ? "other rights" : "its user's rights");
        return 0;
    }
"#;

#[test]
fn a_raw_trace_that_is_too_short_is_damaged() {
    let folder = Folder::new();
    folder.build("writes.c", WRITES);
    let ran = Command::new("./prog").env("FORESEE_RAW", "run.raw").current_dir(folder.path(".")).output();
    assert_eq!(outcome(ran.unwrap()).code, Some(0));
    let raw = folder.read("run.raw");
    let whole = folder.foresee(&["trace", "info", "run.raw"]);
    assert!(whole.stdout.contains("whole            yes"), "{}", whole.stdout);
    // Anywhere, and where parts of it begin.
    for len in
        [raw.len() - 1, raw.len() / 2 + 7, (raw.len() / 2) & !0xffff, (raw.len() / 2) & !0xfffff, 70_000]
    {
        folder.write("short.raw", &raw[..len]);
        let info = folder.foresee(&["trace", "info", "short.raw"]);
        assert!(info.stdout.contains("whole            no"), "{len}: {}", info.stdout);
        let checked = folder.foresee(&["check", "short.raw"]);
        assert!(checked.stderr.contains("short.raw: damaged at byte"), "{len}: {}", checked.stderr);
    }
}

/// Variables that name files which the runtime reads or writes.
const FILES: [&str; 8] = [
    "FORESEE_RAW",
    "FORESEE_CODE",
    "FORESEE_WATCH",
    "FORESEE_VARIABLES",
    "FORESEE_CALLS",
    "FORESEE_KNOWLEDGE",
    "FORESEE_FOLLOWED",
    "FORESEE_VALUES",
];

#[test]
fn a_program_with_other_rights_opens_nothing_that_the_environment_names() {
    let folder = Folder::new();
    folder.build("writes.c", WRITES);
    for (file, mode) in [(".", 0o755), ("prog", 0o4755)] {
        fs::set_permissions(folder.path(file), PermissionsExt::from_mode(mode)).unwrap();
    }
    // Whoever opens this waits for somebody at the other end, who never comes.
    assert!(Command::new("mkfifo").arg(folder.path("trap")).status().unwrap().success());
    fs::set_permissions(folder.path("trap"), PermissionsExt::from_mode(0o666)).unwrap();
    let as_nobody = |program: &str, variables: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(folder.path(program));
        variables.iter().for_each(|variable| _ = command.env(variable, folder.path("trap")));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        end_if_it_hangs(&child);
        outcome(child.wait_with_output().unwrap())
    };
    let plain = as_nobody("prog", &[]);
    if plain.stdout != "other rights\n" {
        eprintln!("skipped: nobody can be given other rights here: {}", plain.stderr);
        return;
    }
    for variable in FILES {
        let ran = as_nobody("prog", &[variable, "FORESEE_OBSERVER"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "other rights\n"),
            "{variable}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains("other rights than its user (setuid)"), "{}", ran.stderr);
    }
}

/// Only what lies in a folder with an absolute name can be the foresee that a program makes way for.
#[test]
fn a_program_runs_no_foresee_of_the_folder_that_it_is_in() {
    let folder = Folder::new();
    folder.build("writes.c", WRITES);
    fs::create_dir(folder.path("bin")).unwrap();
    for name in ["foresee", "bin/foresee"] {
        folder.write(name, "#!/bin/sh\necho taken over\n");
        fs::set_permissions(folder.path(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let run = |path: &str| {
        let mut command = Command::new(folder.path("prog"));
        command.env("PATH", path).env("FORESEE_OBSERVER", "unix:nobody").env("FORESEE_SECRET", "s");
        outcome(command.current_dir(folder.path(".")).output().unwrap())
    };
    for path in [".", "", ":", "bin:.", "./bin", "::/nowhere"] {
        let ran = run(path);
        assert_eq!(ran.stdout, "its user's rights\n", "{path}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("`foresee` cannot be run: the program runs unobserved"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(run(folder.path("bin").to_str().unwrap()).stdout, "taken over\n");
}

/// Forbids itself a system call that recording needs, and then does much that is recorded.
const FORBIDS: &str = r#"
    #include <errno.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <stddef.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/prctl.h>
    #include <sys/syscall.h>
    volatile long counter;
    int main(int count, char **args) {
        const char *what = args[count - 1];
        unsigned number = !strcmp(what, "fallocate") ? SYS_fallocate
                        : !strcmp(what, "pwrite64") ? SYS_pwrite64 : SYS_mmap;
        /* Of mappings, those of files. */
        unsigned fd = number == SYS_mmap ? offsetof(struct seccomp_data, args[4]) : offsetof(struct seccomp_data, nr);
        unsigned other = number == SYS_mmap ? (unsigned)-1 : (unsigned)-2;
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, fd),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 9;
        for (int i = 0; i < 5000000; i++) counter++;
        puts("went on");
        return 0;
    }
"#;

#[test]
fn a_program_that_forbids_itself_what_recording_needs_goes_on() {
    let folder = Folder::new();
    folder.build("forbids.c", FORBIDS);
    let mut stopped = 0;
    for what in ["fallocate", "mmap", "pwrite64"] {
        let ran = folder.foresee(&["record", "-o", "run.ft", "--", "./prog", what]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "went on\n"), "{what}: {}", ran.stderr);
        assert!(!ran.stderr.contains("disk"), "{what}: {}", ran.stderr);
        let told = ran.stderr.contains("the kernel forbids what recording needs (a seccomp filter");
        let info = folder.foresee(&["trace", "info", "run.ft"]).stdout;
        assert_eq!(info.contains("the kernel forbids what recording needs"), told, "{what}: {info}");
        folder.foresee(&["trace", "validate", "run.ft"]).success();
        stopped += u32::from(told);
    }
    // Which calls are needed to go on is the recorder's choice; it cannot do without all of them.
    assert!(stopped > 0);
}
