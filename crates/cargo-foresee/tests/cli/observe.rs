//! `foresee observe`, and programs that it observes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::predicted_properties::project;
use crate::schema::validate_reports;
use crate::support::{Folder, end_if_it_hangs, outcome};

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
pub(crate) struct Observer {
    pub(crate) process: Child,
    says: BufReader<ChildStderr>,
}

impl Observer {
    pub(crate) fn start(folder: &Folder, args: &[&str]) -> Observer {
        Observer::of(SPEC, folder, args)
    }

    pub(crate) fn of(spec: &str, folder: &Folder, args: &[&str]) -> Observer {
        Observer::with_secret("", spec, folder, args)
    }

    fn with_secret(secret: &str, spec: &str, folder: &Folder, args: &[&str]) -> Observer {
        folder.write("flight.rv", spec);
        let line = [&["observe", "--listen", "unix:socket", "--spec", "flight.rv"], args].concat();
        let mut command = folder.command(&line);
        command.env("FORESEE_SECRET", secret);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        end_if_it_hangs(&process);
        let says = BufReader::new(process.stderr.take().unwrap());
        let mut observer = Observer { process, says };
        observer.until("observing programs");
        observer
    }

    /// Reads up to a line with this in it; all that was read.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let mut all = String::new();
        while !all.contains(text) {
            let mut line = String::new();
            assert!(self.says.read_line(&mut line).unwrap() > 0, "`{text}` expected in {all}");
            all += &line;
        }
        all
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let id = Pid::from_raw(self.process.id().try_into().unwrap()).unwrap();
        kill_process(id, Signal::INT).unwrap();
    }

    /// Its exit code, and what it said until then.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut rest) = (String::new(), String::new());
        self.says.read_to_string(&mut rest).unwrap();
        self.process.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        validate_reports(&out);
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
    observed(folder).spawn().unwrap()
}

/// The program, for the observer in the same folder.
pub(crate) fn observed(folder: &Folder) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_foresee")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("./prog");
    command
        .arg("one two")
        .env("PATH", path)
        .env("FORESEE_OBSERVER", "unix:socket")
        .current_dir(folder.path("."));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Lets the program end; all that it printed.
fn land(mut program: Child) -> (Option<i32>, String, String) {
    program.stdin.take().unwrap().write_all(b"x").unwrap();
    let ended = outcome(program.wait_with_output().unwrap());
    (ended.code, ended.stdout, ended.stderr)
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

#[test]
fn a_property_of_a_variable_that_the_program_does_not_have_is_left_out() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    for (how, code, severity) in [(&[][..], 0, "warning"), (&["--strict"], 2, "error")] {
        let spec = SPEC.replace("approved", "aproved");
        let observer =
            Observer::of(&spec, &folder, &[&["--exit-after", "1", "--format", "json"], how].concat());
        land(fly(&folder));
        let (ended, out, said) = observer.end();
        let left_out =
            format!("{severity}: prog: SafeLanding is left out: the run has no variable `aproved`");
        assert!(said.contains(&left_out) && said.contains("perhaps `approved`?"), "{said}");
        assert!(said.contains("not all runs that hb allows"), "{said}");
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((ended, report["findings"].as_array().unwrap().len()), (Some(code), 0), "{said}");
        assert_eq!(report["stats"]["unmatched"][0]["name"], "aproved", "{out}");
    }
}

/// What the observer takes for the first values is what the property says.
#[test]
fn a_variable_that_begins_otherwise_than_the_property_says_makes_candidates() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    let observer =
        Observer::of(&SPEC.replace("int = 1", "int"), &folder, &["--exit-after", "1", "--format", "json"]);
    land(fly(&folder));
    let (_, out, said) = observer.end();
    assert!(said.contains("`radio` is 1 at first, which the property does not say"), "{said}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let all = report["findings"].as_array().unwrap();
    assert!(all.iter().all(|finding| finding["certainty"] == "candidate"), "{out}");
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
fn programs_under_cargo_are_observed() {
    let folder = project(&["flight"]);
    let spec = String::from_utf8(folder.read("examples/flight.rv")).unwrap();
    let observer = Observer::of(&spec, &folder, &["--exit-after", "1"]);
    let mut command = folder.command(&["cargo", "run", "--quiet", "--example", "flight"]);
    let ran = outcome(command.env("FORESEE_OBSERVER", "unix:socket").output().unwrap());
    assert!(
        ran.code == Some(66) && ran.stderr.contains("flight is observed by unix:socket"),
        "{}",
        ran.stderr
    );
    let (code, _, said) = observer.end();
    assert!(code == Some(66) && said.contains("flight: predicted violation of SafeLanding"), "{said}");
    assert!(said.contains("flight has ended: 1 finding in 3 relevant events, 6 cuts"), "{said}");
}

/// Who runs build scripts and compilers does not hand the secret to them; who runs the program knows it all the same.
#[test]
fn the_secret_is_not_inherited_through_cargo() {
    let folder = project(&["flight"]);
    let inherited = "std::env::var(\"FORESEE_SECRET\").is_ok().to_string()";
    folder.write("build.rs", format!("fn main() {{ std::fs::write(\"of-build\", {inherited}).unwrap(); }}"));
    let main = format!("fn main() {{ std::fs::write(\"of-program\", {inherited}).unwrap(); }}");
    folder.write("examples/asks.rs", main);
    let spec = String::from_utf8(folder.read("examples/flight.rv")).unwrap();
    let observer = Observer::with_secret("sesame", &spec, &folder, &["--exit-after", "1"]);
    for (secret, said) in
        [("guess", "it does not know the secret"), ("sesame", "asks is observed by unix:socket")]
    {
        let mut command = folder.command(&["cargo", "run", "--quiet", "--example", "asks"]);
        let command = command.env("FORESEE_OBSERVER", "unix:socket").env("FORESEE_SECRET", secret);
        let ran = outcome(command.output().unwrap());
        assert!(ran.code == Some(0) && ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!((folder.read("of-build"), folder.read("of-program")), (b"false".into(), b"false".into()));
    }
    let (_, _, said) = observer.end();
    assert!(said.contains("asks has ended"), "{said}");
}

/// Threads that come and go; then the program waits for a line of input.
const CHURN: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static long total;
static void *guest(void *given) {
    total++;
    return given;
}
int main(void) {
    for (int i = 0; i < 3000; i++) {
        pthread_t thread;
        if (!pthread_create(&thread, 0, guest, 0)) pthread_join(thread, 0);
    }
    puts("churned");
    fflush(stdout);
    char byte;
    return read(0, &byte, 1) == 1 ? 0 : 5;
}
"#;

/// How many bytes the files below a folder take.
fn disk(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let taken = entries.map(|entry| match entry.metadata() {
        Ok(known) if known.is_dir() => disk(&entry.path()),
        Ok(known) => 512 * known.blocks(),
        Err(_) => 0,
    });
    taken.sum()
}

#[test]
fn what_threads_that_have_ended_recorded_does_not_stay_on_the_disk() {
    let folder = Folder::new();
    folder.build("churn.c", CHURN);
    std::fs::create_dir(folder.path("temporary")).unwrap();
    let observer =
        Observer::of("property P { var total: int; ptltl: total >= 0 }\n", &folder, &["--exit-after", "1"]);
    let mut program = observed(&folder).env("TMPDIR", folder.path("temporary")).spawn().unwrap();
    end_if_it_hangs(&program);
    let mut line = String::new();
    BufReader::new(program.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "churned\n");
    // Threads had a chunk each, of 64 KB, and none of them was given back.
    let begun = Instant::now();
    while disk(&folder.path("temporary")) > 32 << 20 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} bytes", disk(&folder.path("temporary")));
        std::thread::sleep(Duration::from_millis(50));
    }
    let (code, _, said) = land(program);
    assert_eq!(code, Some(0), "{said}");
    let (code, _, said) = observer.end();
    assert!(code == Some(0) && said.contains("prog has ended: nothing found"), "{said}");
}

/// As many threads as a line of input says come and go, one at a time: joined, detached as they are made, and detached when they may have ended. Half of them do what the property looks at. When
/// they have gone, it is violated.
const GUESTS: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static void *guest(void *given) {
    pthread_mutex_lock(&lock);
    if (given) seen = 1;
    pthread_mutex_unlock(&lock);
    sem_post(&done);
    return given;
}
int main(void) {
    char line[20];
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sem_init(&done, 0, 0);
    int batch = 0;
    while (fgets(line, sizeof line, stdin)) {
        for (int i = 0, end = atoi(line); i < end; i++) {
            pthread_t thread;
            if (pthread_create(&thread, i % 3 == 1 ? &detached : 0, guest, i % 2 ? &line : 0)) return 3;
            sem_wait(&done);
            if (i % 3 == 0) pthread_join(thread, 0);
            if (i % 3 == 2) pthread_detach(thread);
        }
        MARKS
        batch++;
    }
    return 0;
}
"#;

/// What memory of its own a process has resident, in kilobytes: how much of files it has mapped is up to the kernel.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

const BATCHES: u32 = 14;

#[test]
fn memory_does_not_grow_with_threads_that_have_ended() {
    let folder = Folder::new();
    // What is found is told once for each line.
    let marks: String =
        (0..BATCHES).map(|batch| format!("if (batch == {batch}) seen = {batch} + 2;\n")).collect();
    folder.build("guests.c", &GUESTS.replace("MARKS", &marks));
    let spec = "property P { var seen: int; ptltl: seen <= 1 @violation { report \"gone\"; } }\n";
    let mut observer = Observer::of(spec, &folder, &["--exit-after", "1"]);
    let mut program = observed(&folder).spawn().unwrap();
    end_if_it_hangs(&program);
    // In batches: on a loaded machine it takes memory, too, to be late, and as much as a batch makes it.
    let mut after = |batches: std::ops::Range<u32>| {
        for batch in batches {
            writeln!(program.stdin.as_mut().unwrap(), "1000").unwrap();
            observer.until(&format!("seen = {}", batch + 2));
        }
        [program.id(), observer.process.id()].map(resident)
    };
    let before = after(0..2);
    let now = after(2..BATCHES);
    // It was a kilobyte and more for each.
    for (who, (before, now)) in ["forward", "observe"].iter().zip(before.into_iter().zip(now)) {
        assert!(now < before + 6_000, "{who}: {before} kB after 2,000 threads, {now} kB after 14,000");
    }
    drop(program.stdin.take());
    assert_eq!(program.wait().unwrap().code(), Some(0));
    let (code, _, said) = observer.end();
    assert!(code == Some(66) && said.contains("prog has ended: 14 findings in 7,014"), "{said}");
}

/// A variable that is written together with another by one instruction has no value that is known: its old one is nothing to go by.
#[test]
fn what_rests_on_values_that_nobody_saw_is_a_candidate() {
    let folder = Folder::new();
    folder.build(
        "together.c",
        r#"
        static struct { int first, second; } pair __attribute__((aligned(8)));
        static volatile int done;
        int main(void) {
            *(volatile long long *)&pair = 0x100000001;
            done = 1;
            return pair.first - 1;
        }
        "#,
    );
    let spec = "property P { var pair.first, done: int; ptltl: !(done == 1 && pair.first == CONDITION) @violation { report \"set\"; } }";
    for (old, findings, exit) in [("0", 1, 66), ("5", 0, 0)] {
        let spec = spec.replace("CONDITION", old);
        let observer = Observer::of(&spec, &folder, &["--exit-after", "1", "--format", "json"]);
        let program = outcome(observed(&folder).output().unwrap());
        assert_eq!(program.code, Some(0), "{}", program.stderr);
        let (code, out, said) = observer.end();
        let report: Value = serde_json::from_str(&out).unwrap();
        let found = report["findings"].as_array().unwrap();
        assert_eq!((code, found.len()), (Some(exit), findings), "{out}");
        assert!(found.iter().all(|finding| finding["certainty"] == "candidate"), "{out}");
        assert!(said.contains("P: `pair.first` was written together with other memory"), "{said}");
        assert_eq!(report["stats"]["sessions"][0]["exhaustive"], false, "{out}");
    }
}

/// What two threads write without any order has more runs than anybody can look at.
#[test]
fn programs_do_not_wait_until_what_they_did_is_explored() {
    let folder = Folder::new();
    folder.build(
        "writes.c",
        r#"
        #include <pthread.h>
        #include <stdio.h>
        static volatile int first, second;
        static void *writes(void *is_first) {
            for (int i = 0; i < 200000; i++) *(is_first ? &first : &second) = i;
            return 0;
        }
        int main(void) {
            pthread_t other;
            pthread_create(&other, 0, writes, "first");
            writes(0);
            pthread_join(other, 0);
            puts("written");
        }
        "#,
    );
    let spec = "property P { var first, second: int; ptltl: first >= 0 && second >= 0 @violation { report \"negative\"; } }";
    let observer = Observer::of(spec, &folder, &["--exit-after", "1"]);
    let begun = Instant::now();
    let program = outcome(observed(&folder).output().unwrap());
    let waited = begun.elapsed();
    assert_eq!((program.code, program.stdout.as_str()), (Some(0), "written\n"), "{}", program.stderr);
    let (code, _, said) = observer.end();
    assert!(code == Some(0) && said.contains("not all runs that hb allows"), "{said}");
    // The observer goes on; either it knows the end, or both say that it does not.
    let is_cut = program.stderr.contains("it has ended, and the observer is too slow to hear the rest");
    assert_eq!(said.contains("prog was dropped: it disconnected before the end"), is_cut, "{said}");
    assert!(is_cut || said.contains("in 400,000 relevant events"), "{said}");
    assert!(is_cut || waited < begun.elapsed(), "who observes works on when the program has ended");
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

/// A client of its own.
pub(crate) fn say(folder: &Folder, lines: &str) -> UnixStream {
    let mut stream = UnixStream::connect(folder.path("socket")).unwrap();
    // It may be dropped before it has said everything.
    let _ = stream.write_all(lines.as_bytes());
    stream
}

pub(crate) fn hello(session: &str) -> String {
    format!("{{\"hello\":{{\"version\":3,\"session\":\"{session}\",\"program\":\"{session}\"}}}}\n")
}

/// A variable of the property gets a value.
pub(crate) fn assign(number: u32, thread: u32, clock: &[(u32, u32)], var: u32, value: i64) -> String {
    let event = json!({"relevant": {
        "property": 0, "number": number, "thread": thread, "clock": clock, "acts": [{"assign": [var, value]}],
        "name": format!("T{thread}"), "place": format!("p{number}"),
    }});
    format!("{event}\n")
}

#[test]
fn hostile_clients_are_dropped_and_others_are_not() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    let mut observer = Observer::start(&folder, &["--exit-after", "5", "--format", "json"]);
    // They stall: in the middle of a message, and before the first.
    let _stalled = say(&folder, &hello("stalled")[..20]);
    let _silent = say(&folder, "");
    let program = fly(&folder);
    let say = |lines: &str| say(&folder, lines);
    say("GET / HTTP/1.1\r\n\r\n");
    observer.until("a client was dropped: it is no message");
    say(&hello("x").replace(":3,", ":9,"));
    observer.until("it speaks version 9 of the protocol");
    drop(say(&"x".repeat(200_000)));
    observer.until("a line of more than 65536 bytes");
    // They lie.
    let _of_properties = say(&format!("{}{}", hello("liar"), "{\"ended\":{\"messages\":[0,0]}}\n"));
    observer.until("liar was dropped: there is no property 2");
    let _of_clocks = say(&format!("{}{}", hello("cheat"), assign(0, 1, &[(1, 1), (2, 7)], 0, 1)));
    observer.until("cheat was dropped: message 0 is said to come after events that came later");
    // They die, between messages and within one.
    let die = |words: String| {
        // Once it has been welcomed.
        BufReader::new(say(&words)).read_line(&mut String::new()).unwrap();
    };
    die(format!("{}{}", hello("dead"), assign(0, 1, &[(1, 1)], 0, 1)));
    observer.until(
        "dead was dropped: it disconnected before the end of the program: 1 finding in 1 relevant events",
    );
    die(format!("{}{}", hello("cut"), &assign(0, 1, &[(1, 1)], 0, 1)[..30]));
    observer.until("cut was dropped: it disconnected in the middle of a message");
    // Those that stall may do so for a while.
    observer.until("a client was dropped: it stalled");
    observer.until("a client was dropped: it stalled");
    assert_eq!(land(program).0, Some(7));
    let (code, out, _) = observer.end();
    assert_eq!(validate_reports(&out), 1, "{out}");
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(66), "{document}");
    let findings = document["findings"].as_array().unwrap();
    let of = |program: &str| findings.iter().filter(|one| one["program"] == program).collect::<Vec<_>>();
    let [found] = of("prog")[..] else { panic!("{document}") };
    assert_eq!(found["certainty"], "predicted");
    assert_eq!(found["run"]["steps"].as_array().unwrap().len(), 3);
    let indices: Vec<&Value> =
        found["run"]["steps"].as_array().unwrap().iter().map(|step| &step["index"]).collect();
    assert_eq!(found["witness"]["checked"], true);
    assert_eq!(found["witness"]["events"], json!(indices));
    let flown = document["stats"]["sessions"].as_array().unwrap().iter().find(|one| one["program"] == "prog");
    assert_eq!(flown.unwrap()["refused"], 0);
    assert!(document["stats"]["dropped"].as_u64().unwrap() >= 5);
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
    assert!(code == Some(2) && said.contains("expected PORT, HOST:PORT or unix:PATH"), "{said}");
    folder.write(
        "suffix.rv",
        "suffix property P {\n    event a;\n    ere: a a\n    @match { report \"x\"; }\n}\n",
    );
    let (code, said) = observe("unix:socket", "suffix.rv");
    assert!(code == Some(2) && said.contains("suffix.rv: P: it is a `suffix` property"), "{said}");
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
            "version": 3, "session": secret, "program": "p", "secret": secret
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

/// The messages of one program come from many connections, the last one first.
#[test]
fn messages_come_in_any_order_from_many_channels() {
    let folder = Folder::new();
    let mut observer = Observer::start(&folder, &["--exit-after", "1"]);
    // Approved, then landing; the radio fails at any time.
    let there_is = |number: u32, thread: u32| {
        let silent = json!({"property": 0, "number": number, "thread": thread, "clock": [], "ended": false});
        format!("{}\n", json!({ "silent": silent }))
    };
    let lines = [
        there_is(0, 1),
        there_is(1, 2),
        assign(2, 1, &[(1, 1)], 1, 1),
        assign(3, 1, &[(1, 2)], 0, 1),
        assign(4, 2, &[(2, 1)], 2, 0),
        "{\"ended\":{\"messages\":[5]}}\n".to_owned(),
    ];
    let channels: Vec<UnixStream> =
        lines.iter().rev().map(|line| say(&folder, &(hello("many") + line))).collect();
    let told = observer.until("landing = 1, approved = 1, radio = 0");
    assert!(told.contains("many: predicted violation of SafeLanding"), "{told}");
    let (code, _, rest) = observer.end();
    assert!(
        code == Some(66) && rest.contains("many has ended: 1 finding in 3 relevant events, 6 cuts"),
        "{rest}"
    );
    drop(channels);
}

#[test]
fn ctrl_c_tells_what_is_known() {
    let folder = Folder::new();
    folder.build("flight.c", FLIGHT);
    let observer = Observer::start(&folder, &["--format", "json"]);
    observer.interrupt();
    let (code, out, _) = observer.end();
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &document["findings"]), (Some(0), &json!([])));
    let mut observer = Observer::start(&folder, &[]);
    let program = fly(&folder);
    observer.until("predicted violation");
    observer.interrupt();
    let (code, _, rest) = observer.end();
    assert!(code == Some(66) && rest.contains("prog still runs: 1 finding in 3 relevant events"), "{rest}");
    // The program does not notice.
    let (code, out, said) = land(program);
    assert_eq!((code, out.as_str()), (Some(7), "landed, 2, one two\n"), "{said}");
}

/// What is closed may be used no more: here another thread closes what this one has just stopped to use.
const FILES: &str = r#"
#include <foresee.h>
#include <pthread.h>
#include <unistd.h>
static char files[3];
static void *closes(void *unused) {
    usleep(300000);
    FORESEE_EVENT("shut", FORESEE_OBJECT(&files[1]));
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, closes, 0);
    for (int i = 0; i < 3; i++)
        FORESEE_EVENT("use", FORESEE_OBJECT(&files[i]));
    pthread_join(thread, 0);
    FORESEE_EVENT("shut", FORESEE_OBJECT(&files[0]));
    char byte;
    return read(0, &byte, 1) == 1 ? 7 : 5;
}
"#;

const FILE_SPEC: &str = r#"property UseAfterShut(f) {
    event use(f);
    event shut(f);
    ere: shut use
    @match { report "{f} is used after it is shut"; }
}
"#;

#[test]
fn properties_with_parameters_are_observed() {
    let folder = Folder::new();
    folder.build("files.c", FILES);
    let mut observer = Observer::of(FILE_SPEC, &folder, &["--exit-after", "1"]);
    let program = fly(&folder);
    let told = observer.until("is used after it is shut");
    assert!(told.contains("prog: predicted match of UseAfterShut"), "{told}");
    let run = observer.until("checked: these 2 steps");
    let at = |what: &str| run.find(what).unwrap_or_else(|| panic!("{what} in {run}"));
    assert!(at("shut(") < at("use("), "{run}");
    assert_eq!(land(program).0, Some(7));
    let (code, _, rest) = observer.end();
    let ended = "prog has ended: 1 finding in 5 relevant events";
    assert!(code == Some(66) && rest.contains(ended) && rest.contains("all runs that hb allows"), "{rest}");
}

#[test]
fn calls_are_observed_with_their_values() {
    let source = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static long box;
__attribute__((noinline)) long box_open(long n, const char *name) { asm volatile("" : "+r"(n) : "r"(name)); return n; }
__attribute__((noinline)) void box_write(long n) { asm volatile("" : : "r"(n)); }
__attribute__((noinline)) void box_close(long n) { asm volatile("" : : "r"(n)); }
static void *writes(void *p) { box_write(box); return p; }
static void *closes(void *p) { usleep(30000); box_close(box); return p; }
static void *own(void *late) { if (late) usleep(60000); int fd = open("/dev/null", O_WRONLY); if (write(fd, "x", 1) < 0) return late; close(fd); return 0; }
int main(void) {
    box = box_open(7, "first");
    pthread_t t[4];
    pthread_create(&t[0], 0, writes, 0); pthread_create(&t[1], 0, closes, 0); pthread_create(&t[2], 0, own, 0); pthread_create(&t[3], 0, own, t);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return 7;
}
"#;
    let spec = |name: &str, [open, write, close]: [&str; 3]| {
        format!(
            "property {name}(d) {{\n    event opened(d) = exit(\"{open}\") returning d when d >= 0;\n    event written(d) = enter(\"{write}\", d);\n    event closed(d) = enter(\"{close}\", d);\n    ere: (opened | written)* closed written\n    @match {{ report \"{{d}} was closed\"; }}\n}}\n"
        )
    };
    let specs =
        spec("Box", ["box_open", "box_write", "box_close"]) + &spec("Descriptor", ["open", "write", "close"]);
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("calls.c", source);
    folder.foresee(&["cc", "-g", "calls.c", "-o", "prog", "-pthread"]).success();
    let mut observer = Observer::of(&specs, &folder, &["--exit-after", "1"]);
    let program = fly(&folder);
    let told = observer.until("7 was closed");
    assert!(told.contains("predicted match of Box"), "{told}");
    assert_eq!(land(program).0, Some(7));
    // Both threads get the same descriptor, one after the other.
    let (code, _, rest) = observer.end();
    assert!(code == Some(66) && !rest.contains("match of Descriptor"), "{rest}");
    folder.write("field.rv", "property P(a) {\n    var b(a): Account.balance;\n    event e(a) = enter(\"f\", a) when b > 3;\n    ere: e\n    @match { report \"x\"; }\n}\n");
    folder
        .foresee(&["observe", "--listen", "unix:socket", "--spec", "field.rv"])
        .one_message(2, &["`P` asks for fields of objects"]);
}
