//! foresee as `cargo install` leaves it: one program, with nothing beside it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Folder;

const RACY: &str = r#"
    #include <pthread.h>
    #include "foresee.h"
    int shared;
    static void *add(void *unused) { shared++; return unused; }
    int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, add, 0);
        shared++;
        pthread_join(thread, 0);
        return 0;
    }
"#;

#[test]
fn an_installed_foresee_builds_its_runtime_once() {
    let folder = Folder::new();
    folder.write("racy.c", RACY);
    std::fs::create_dir(folder.path("bin")).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_foresee"), folder.path("bin/foresee")).unwrap();
    let foresee = |args: &[&str]| {
        let mut command = Command::new(folder.path("bin/foresee"));
        command.args(args).current_dir(folder.path("")).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", folder.path("cache")).env_remove("FORESEE_RUNTIME");
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = foresee(&["cc", "racy.c", "-o", "racy", "-lpthread"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("building foresee's runtime"), "{said}");
    let (code, said) = foresee(&["cc", "racy.c", "-o", "racy", "-lpthread"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    let (code, said) = foresee(&["run", "./racy"]);
    assert_eq!(code, Some(66), "{said}");
    let kept = |at: &Path| at.read_dir().unwrap().map(|entry| entry.unwrap()).collect::<Vec<_>>();
    let [runtime] = &kept(&folder.path("cache/foresee"))[..] else { panic!("one for this toolchain") };
    let mut names: Vec<_> = kept(&runtime.path()).iter().map(std::fs::DirEntry::file_name).collect();
    names.sort();
    assert_eq!(names, ["include", "libforesee_rt.a"], "what it was built from is gone");
}
