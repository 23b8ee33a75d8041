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

/// The kernel answers these with `EFAULT`.
const BAD_POINTERS: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <pthread.h>
#include <unistd.h>
static void *nothing(void *p) { return p; }
static void say(long result) { printf("%ld %d\n", result, result < 0 ? errno : 0); }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);
    page[4094] = page[4095] = 'x';
    char *const nowhere[] = { 0, (char *)8, page + 4094 };
    struct stat about;
    for (int i = 0; i < 3; i++) {
        char *path = nowhere[i];
        say(unlink(path)), say(chdir(path)), say(stat(path, &about)), say(access(path, R_OK));
        say(mkdir(path, 0700)), say(rename(path, "to")), say(rename("from", path)), say(open(path, O_RDONLY));
        say(openat(AT_FDCWD, path, O_RDONLY)), say(truncate(path, 0)), say(symlink("to", path));
        say(readv(0, (struct iovec *)path, 2)), say(writev(1, (struct iovec *)path, 2));
        say(sendmsg(1, (struct msghdr *)path, 0)), say(recvmsg(1, (struct msghdr *)path, 0));
    }
    return 0;
}
"#;

#[test]
fn pointers_that_lead_nowhere_are_left_to_the_kernel() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", BAD_POINTERS);
    folder.foresee(&["cc", "-g", "-w", "prog.c", "-o", "prog", "-pthread"]).success();
    let alone =
        std::process::Command::new(folder.path("prog")).current_dir(folder.path(".")).output().unwrap();
    let alone = String::from_utf8(alone.stdout).unwrap();
    assert_eq!(alone.lines().count(), 45, "{alone}");
    folder.write(
        "p.rv",
        "property P(p) { event o(p) = enter(\"open\", p); ere: o o o o @match { report \"{p}\"; } }",
    );
    for more in [&[][..], &["--spec", "p.rv"]] {
        let args = [&["run"][..], more, &["--", "./prog"]].concat();
        let recorded = folder.foresee(&args);
        assert!(recorded.stdout.starts_with(&alone), "{more:?}: {}{}", recorded.stdout, recorded.stderr);
    }
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
