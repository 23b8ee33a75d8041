//! `foresee observe`, and programs that it observes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::support::{Folder, end_if_it_hangs};

/// The flight controller of the examples; at its end it waits for a line of input.
const FLIGHT: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static atomic_int landing, approved, radio = 1;
static void *pilot(void *unused) {
    approved = radio != 0;
    if (approved) landing = 1;
    return unused;
}
static void *watch_radio(void *unused) {
    while (radio) {
        usleep(300000);
        radio = 0;
    }
    return unused;
}
int main(int count, char **args) {
    pthread_t first, second;
    pthread_create(&first, 0, pilot, 0);
    pthread_create(&second, 0, watch_radio, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    printf("landed, %d, %s\n", count, args[count - 1]);
    fflush(stdout);
    char byte;
    return read(0, &byte, 1) == 1 ? 7 : 5;
}
"#;

const SPEC: &str = r#"property SafeLanding {
    var landing, approved: int;
    var radio: int = 1;
    ptltl: start(landing == 1) -> [approved == 1, radio == 0)
    @violation { report "landing without a live, approved radio contact"; }
}
"#;

/// An observer, and what it says.
struct Observer {
    process: Child,
    says: BufReader<ChildStderr>,
}

impl Observer {
    fn start(folder: &Folder, args: &[&str]) -> Observer {
        folder.write("flight.rv", SPEC);
        let line = [&["observe", "--listen", "unix:socket", "--spec", "flight.rv"], args].concat();
        let mut command = folder.command(&line);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        end_if_it_hangs(&process);
        let says = BufReader::new(process.stderr.take().unwrap());
        let mut observer = Observer { process, says };
        observer.until("observing programs");
        observer
    }

    /// Reads up to a line with this in it; all that was read.
    fn until(&mut self, text: &str) -> String {
        let mut all = String::new();
        while !all.contains(text) {
            let mut line = String::new();
            assert!(self.says.read_line(&mut line).unwrap() > 0, "`{text}` expected in {all}");
            all += &line;
        }
        all
    }

    /// Its exit code, and what it said until then.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut rest) = (String::new(), String::new());
        self.says.read_to_string(&mut rest).unwrap();
        self.process.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        (self.process.wait().unwrap().code(), out, rest)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.process.kill();
    }
}

fn fly(folder: &Folder) -> Child {
    let bin = Path::new(env!("CARGO_BIN_EXE_foresee")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("./prog");
    command
        .arg("one two")
        .env("PATH", path)
        .env("FORESEE_OBSERVER", "unix:socket")
        .current_dir(folder.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Lets the program end; all that it printed.
fn land(mut program: Child) -> (Option<i32>, String, String) {
    program.stdin.take().unwrap().write_all(b"x").unwrap();
    let output = program.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn violations_are_told_while_programs_run() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    let mut observer = Observer::start(&folder, &["--exit-after", "2"]);
    let (first, second) = (fly(&folder), fly(&folder));
    let told = observer.until("landing = 1, approved = 1, radio = 0");
    assert!(told.contains("prog: predicted violation of SafeLanding: landing without a live"), "{told}");
    assert!(told.contains("before: landing = 0, approved = 0, radio = 1\n     1  T"), "{told}");
    assert!(told.contains("flight.c:9:"), "{told}");
    // Only now do they end, with their own arguments, output and exit code.
    for program in [first, second] {
        let landed = (Some(7), "landed, 2, one two\n".to_owned(), String::new());
        assert_eq!(land(program), landed);
    }
    let (code, _, rest) = observer.end();
    assert_eq!(code, Some(66), "{rest}");
    let ended = "prog has ended: 1 finding in 3 relevant events, 6 cuts, all runs that hb allows";
    assert_eq!(rest.matches(ended).count(), 2, "{rest}");
    assert!(!folder.path("socket").exists());
}

/// What is recorded and checked here is observed as well.
#[test]
fn programs_under_run_are_observed() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    let mut observer = Observer::start(&folder, &["--exit-after", "1"]);
    let run = |args: &[&str]| {
        let mut command = folder.command(&[&["run"], args, &["--", "./prog", "x"]].concat());
        command.env("FORESEE_OBSERVER", "unix:socket");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let program = run(&["--spec", "flight.rv", "--model", "hb", "--format", "json"]);
    // It still runs: nobody has given it its line of input.
    let told = observer.until("landing = 1, approved = 1, radio = 0");
    assert!(told.contains("prog: predicted violation of SafeLanding: landing without a live"), "{told}");
    let (code, out, said) = land(program);
    assert!(said.contains("./prog is observed by unix:socket"), "{said}");
    let (landed, report) = out.split_once('\n').unwrap();
    assert_eq!((code, landed), (Some(66), "landed, 2, x"), "{said}");
    let document: Value = serde_json::from_str(report).unwrap();
    assert_eq!(document["findings"][0]["property"], "SafeLanding", "{document}");
    let (code, _, rest) = observer.end();
    assert!(code == Some(66) && rest.contains("prog has ended: 1 finding in 3 relevant events"), "{rest}");
    // Nobody listens any more: it is recorded and checked all the same. So is what nobody could be told of.
    let (code, _, said) = land(run(&["--spec", "flight.rv"]));
    assert!(code == Some(66) && said.contains("prog runs unobserved: observer unix:socket"), "{said}");
    let (code, _, said) = land(run(&["--spec", "flight.rv", "--keep-last", "1M"]));
    assert!(code == Some(66) && said.contains("runs unobserved: only its end is recorded"), "{said}");
}

#[test]
fn programs_do_not_need_their_observer() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    let mut observer = Observer::start(&folder, &[]);
    let program = fly(&folder);
    observer.until("predicted violation");
    observer.process.kill().unwrap();
    observer.process.wait().unwrap();
    let (code, out, said) = land(program);
    assert_eq!((code, out.as_str()), (Some(7), "landed, 2, one two\n"), "{said}");
    assert!(said.contains("prog is no longer observed") && said.lines().count() == 1, "{said}");
    // Nobody listens: it runs as if nothing were set.
    let (code, out, said) = land(fly(&folder));
    assert_eq!((code, out.as_str()), (Some(7), "landed, 2, one two\n"), "{said}");
    assert!(said.contains("prog runs unobserved: observer unix:socket"), "{said}");
}

#[test]
fn hostile_clients_are_dropped_and_others_are_not() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    let mut observer = Observer::start(&folder, &["--exit-after", "2", "--format", "json"]);
    let say = |lines: &str| {
        let mut stream = UnixStream::connect(folder.path("socket")).unwrap();
        // It may be dropped before it has said everything.
        let _ = stream.write_all(lines.as_bytes());
        stream
    };
    let hello = |session: &str| {
        format!("{{\"hello\":{{\"version\":1,\"session\":\"{session}\",\"program\":\"evil\"}}}}\n")
    };
    let program = fly(&folder);
    say("GET / HTTP/1.1\r\n\r\n");
    observer.until("a client was dropped: it is no message");
    say(&hello("x").replace(":1,", ":9,"));
    observer.until("it speaks version 9 of the protocol");
    drop(say(&"x".repeat(200_000)));
    observer.until("a line of more than 65536 bytes");
    // One that says nothing stays in nobody's way.
    let _silent = say("");
    let _twice = say(&format!("{}{}", hello("y"), "{\"ended\":{\"messages\":[0,0]}}\n"));
    observer.until("evil was dropped: there is no property 2");
    assert_eq!(land(program).0, Some(7));
    let (code, out, _) = observer.end();
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(66), "{document}");
    assert_eq!(document["findings"].as_array().unwrap().len(), 1, "{document}");
    assert_eq!(document["findings"][0]["certainty"], "predicted");
    assert_eq!(document["findings"][0]["run"]["steps"].as_array().unwrap().len(), 3);
    assert!(document["stats"]["dropped"].as_u64().unwrap() >= 3);
}

#[test]
fn what_cannot_be_observed_is_said() {
    let folder = Folder::new();
    folder.write("flight.rv", SPEC);
    let observe = |listen: &str, spec: &str| {
        let mut command = folder.command(&["observe", "--listen", listen, "--spec", spec]);
        let output = command.env_remove("FORESEE_SECRET").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = observe("0.0.0.0:0", "flight.rv");
    assert!(code == Some(2) && said.contains("a secret is needed: set FORESEE_SECRET"), "{said}");
    let (code, said) = observe("somewhere", "flight.rv");
    assert!(code == Some(2) && said.contains("expected HOST:PORT or unix:PATH"), "{said}");
    folder.write(
        "params.rv",
        "property P(l) {\n    event acquire(l);\n    ere: acquire acquire\n    @match { report \"x\"; }\n}\n",
    );
    let (code, said) = observe("unix:socket", "params.rv");
    assert!(code == Some(2) && said.contains("params.rv: P: it has parameters"), "{said}");
}

#[test]
fn a_secret_keeps_others_out() {
    let folder = Folder::new();
    folder.write("flight.rv", SPEC);
    let mut command =
        folder.command(&["observe", "--listen", "127.0.0.1:0", "--spec", "flight.rv", "--exit-after", "1"]);
    let command = command.env("FORESEE_SECRET", "sesame").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let says = BufReader::new(process.stderr.take().unwrap());
    let mut observer = Observer { process, says };
    let line = observer.until("observing programs");
    let address = line.trim().rsplit('=').next().unwrap().to_owned();
    let greet = |secret: &str| {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let hello = serde_json::json!({"hello": {
            "version": 1, "session": secret, "program": "p", "secret": secret
        }});
        writeln!(stream, "{hello}\n{{\"ended\":{{\"messages\":[0]}}}}").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        answer
    };
    assert!(greet("open").contains("it does not know the secret"));
    assert!(greet("sesame").contains("welcome"));
    let (code, _, rest) = observer.end();
    assert!(code == Some(0) && rest.contains("p has ended: nothing found in 0 relevant events"), "{rest}");
}
