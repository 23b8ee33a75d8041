//! `foresee forward EXE ARGV0 ARGS…`: runs a program and tells its observer what it does. Programs call it themselves, when they are built by
//! foresee and `FORESEE_OBSERVER` is set; nobody types it.
//!
//! The program records as always; this process reads along, computes the clocks of the events that the observer's properties look
//! at, and sends them. What was read of the raw trace is given back to the disk at once. Whatever happens to the observer,
//! the program notices nothing.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foresee_monitor::Compiled;
use foresee_predict::lattice::online::{
    Act, Clocks, Ended, Hello, Idle, LONGEST_LINE, Message, Relevant, Reply, Silent, Stamp, VERSION,
};
use foresee_predict::property::{Step, Translator};
use foresee_trace::raw::RawReader;
use foresee_trace::{Event, EventSource as _, Names, ThreadId};
use rustix::fs::{FallocateFlags, fallocate};

use crate::config;
use crate::error::{self, CliError, Severity};
use crate::exit;
use crate::observer::address::{Address, Connection};
use crate::observer::{OBSERVER_VARIABLE, SECRET_VARIABLE, secret};
use crate::recording::{FOLLOWED_VARIABLE, RAW_VARIABLE, doubt, unreadable, wait};
use crate::signals::PassOn;
use crate::symbolize::FileSymbols;
use crate::unrecorded;
use crate::watch;

/// How it is called.
pub(crate) const NAME: &str = "forward";

/// The time between two looks at the raw trace.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The observer must answer within.
const ANSWERS: Duration = Duration::from_secs(5);

/// The longest spec that is taken from an observer.
const LONGEST_SPEC: u64 = 16 << 20;

/// Runs the program: what follows the command's name, with or without `--`.
pub(crate) fn run(line: &[OsString]) -> ExitCode {
    let line = line.strip_prefix(&[OsString::from("--")]).unwrap_or(line);
    let [executable, name, args @ ..] = line else {
        error::print(Severity::Error, &"forward: expected a program");
        return ExitCode::from(exit::BAD_INPUT);
    };
    let mut command = Command::new(executable);
    command.arg0(name).args(args).env_remove(OBSERVER_VARIABLE).env_remove(SECRET_VARIABLE);
    let shown = Path::new(name).file_name().unwrap_or(name).to_string_lossy().into_owned();
    let ran = match meet(&shown) {
        Ok((connection, spec)) => observed(command, &shown, connection, &spec),
        Err(why) => {
            error::print(Severity::Note, &format!("{shown} runs unobserved: {why}"));
            let why = command.exec();
            Err(unrecorded::cannot_run(executable, &why))
        }
    };
    ran.map_or_else(
        |why| {
            error::print(Severity::Error, &why);
            ExitCode::from(why.exit_code())
        },
        ExitCode::from,
    )
}

/// Says hello to the observer; the connection, and the observer's spec.
fn meet(program: &str) -> Result<(Connection, Compiled), String> {
    let address = std::env::var(OBSERVER_VARIABLE).unwrap_or_default();
    let failed = |why: std::io::Error| format!("observer {address}: {}", error::without_code(&why));
    let mut connection = Address::parse(&address)?.connect(ANSWERS).map_err(failed)?;
    connection.limit(ANSWERS, ANSWERS).map_err(failed)?;
    let random = || RandomState::new().hash_one(std::process::id());
    let session = format!("{:016x}{:016x}", random(), random());
    let hello = Hello { version: VERSION, session, program: program.to_owned(), secret: secret() };
    connection.write_all(&Message::Hello(hello).line()).map_err(failed)?;
    let mut line = Vec::new();
    let reading = connection.try_clone().map_err(failed)?;
    BufReader::new(std::io::Read::take(reading, LONGEST_SPEC))
        .read_until(b'\n', &mut line)
        .map_err(failed)?;
    match serde_json::from_slice(&line) {
        Ok(Reply::Welcome { spec }) => {
            let broken =
                |_| format!("observer {address}: it has a spec that this foresee does not understand");
            Ok((connection, foresee_monitor::compile(&spec).map_err(broken)?))
        }
        Ok(Reply::Refused(why)) => Err(format!("observer {address} refuses: {why}")),
        Err(_) => Err(format!("{address} is no observer, or of another version")),
    }
}

fn observed(mut command: Command, name: &str, to: Connection, spec: &Compiled) -> Result<u8, CliError> {
    let folder =
        tempfile::tempdir().map_err(|why| CliError::output("the folder for temporary files", why))?;
    let raw = folder.path().join("raw");
    let properties = &spec.properties;
    let variables: Vec<String> =
        properties.iter().flat_map(|property| &property.vars).map(|var| var.name.clone()).collect();
    if !variables.is_empty() {
        let addresses = watch::addresses(command.get_program(), &[], &variables)?;
        command.env(watch::VARIABLE, addresses);
    }
    let table = config::lock_table()?;
    let pass_on = PassOn::new();
    let spawned = command.env(RAW_VARIABLE, &raw).env(FOLLOWED_VARIABLE, "1").spawn();
    let mut child = spawned.map_err(|why| unrecorded::cannot_run(command.get_program(), &why))?;
    let has_ended = AtomicBool::new(false);
    let status = std::thread::scope(|scope| {
        let (here, pass_on, has_ended) = (std::thread::current(), &pass_on, &has_ended);
        let waiting = scope.spawn(move || {
            let status = wait(&mut child, pass_on, None);
            has_ended.store(true, Ordering::SeqCst);
            here.unpark();
            status
        });
        let views = properties.iter().map(|property| View::new(Translator::new(property))).collect();
        let mut teller = Teller { to: Some(BufWriter::new(to)), name, views, in_doubt: false };
        let mut reader = None;
        while !has_ended.load(Ordering::SeqCst) {
            if let Err(why) = look(&raw, &table, &mut reader, &mut teller) {
                teller.give_up(&why.to_string());
            }
            std::thread::park_timeout(BETWEEN_LOOKS);
        }
        if let Err(why) = complete(&raw, &table, reader, &mut teller) {
            teller.give_up(&why.to_string());
        }
        waiting.join()
    });
    let status = status.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok(exit::of_process(status.map_err(|why| CliError::output(name, why))?))
}

/// Reads what the program has written by now, and gives its space back.
fn look(
    raw: &Path,
    table: &foresee_trace::raw::LockTable,
    reader: &mut Option<RawReader>,
    teller: &mut Teller<'_>,
) -> Result<(), CliError> {
    let failed = |why| unreadable(raw, why);
    match reader {
        None => {
            // It may not have begun, or never begin.
            let Ok(file) = File::options().read(true).write(true).open(raw) else { return Ok(()) };
            *reader =
                RawReader::follow(file, Box::new(FileSymbols::default()), table.clone()).map_err(failed)?;
        }
        Some(reader) => reader.look_again().map_err(failed)?,
    }
    let Some(reader) = reader else { return Ok(()) };
    while reader.advance().map_err(failed)? {
        teller.event(reader.names(), &reader.event());
    }
    for (start, end) in reader.take_read() {
        // A file system that cannot do it keeps all.
        let _ = fallocate(
            reader.file(),
            FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            start,
            end - start,
        );
    }
    teller.after_look(reader);
    Ok(())
}

/// The program has ended: the rest.
fn complete(
    raw: &Path,
    table: &foresee_trace::raw::LockTable,
    reader: Option<RawReader>,
    teller: &mut Teller<'_>,
) -> Result<(), CliError> {
    let failed = |why| unreadable(raw, why);
    let mut reader = match reader {
        Some(mut reader) => {
            reader.end_following().map_err(failed)?;
            reader
        }
        None => RawReader::open(raw, Box::new(FileSymbols::default()), table.clone()).map_err(failed)?,
    };
    while reader.advance().map_err(failed)? {
        teller.event(reader.names(), &reader.event());
    }
    teller.after_look(&reader);
    let messages = teller.views.iter().map(|view| view.said).collect();
    teller.say(&Message::Ended(Ended { messages }));
    teller.flush();
    Ok(())
}

/// The program in the terms of a property.
struct View<'p> {
    translator: Translator<'p>,
    clocks: Clocks,
    /// How many messages.
    said: u32,
}

impl<'p> View<'p> {
    fn new(translator: Translator<'p>) -> View<'p> {
        View { translator, clocks: Clocks::new(), said: 0 }
    }
}

/// Who tells the observer.
struct Teller<'p> {
    /// `None` once there is nobody to tell.
    to: Option<BufWriter<Connection>>,
    name: &'p str,
    views: Vec<View<'p>>,
    in_doubt: bool,
}

impl Teller<'_> {
    fn event(&mut self, names: &Names, event: &Event<'_>) {
        if self.to.is_none() {
            return;
        }
        for property in 0..self.views.len() {
            let Some(View { translator, clocks, .. }) = self.views.get_mut(property) else { return };
            translator.learn(names);
            let mut acts = Vec::new();
            // An event that carries too much or too little is another event of that name.
            let _ = translator.event(event, |step| match step {
                Step::Event(event, args) => acts.push(Act::Event(event, args.to_vec())),
                Step::Assign(var, value) => acts.push(Act::Assign(var as u32, value)),
                Step::Gone(_) => {}
            });
            let Some(Stamp { others, clock }) = clocks.event(event, !acts.is_empty()) else { continue };
            self.promise(property, others);
            let Some(number) = self.number(property) else { return };
            let message = Message::Relevant(Relevant {
                property: property as u32,
                number,
                thread: event.thread.0,
                clock,
                acts,
                name: called(names, event.thread),
                place: short(names.location_text(event.loc)),
            });
            self.say(&message);
        }
    }

    /// Tells what is known of threads that do nothing relevant, and sends everything.
    fn after_look(&mut self, reader: &RawReader) {
        if let Some(why) = doubt(reader)
            && !std::mem::replace(&mut self.in_doubt, true)
        {
            self.say(&Message::Doubt(why));
        }
        for property in 0..self.views.len() {
            // There are none once there is nobody to tell.
            let idle = self.views.get_mut(property).map(|view| view.clocks.idle());
            self.promise(property, idle.unwrap_or_default());
        }
        self.flush();
    }

    fn promise(&mut self, property: usize, idle: Vec<Idle>) {
        for Idle { thread, clock, ended } in idle {
            let Some(number) = self.number(property) else { return };
            self.say(&Message::Silent(Silent { property: property as u32, number, thread, clock, ended }));
        }
    }

    /// The number of the property's next message.
    fn number(&mut self, property: usize) -> Option<u32> {
        let said = &mut self.views.get_mut(property)?.said;
        *said += 1;
        Some(*said - 1)
    }

    fn say(&mut self, message: &Message) {
        let Some(to) = &mut self.to else { return };
        let line = message.line();
        if line.len() > LONGEST_LINE {
            return self.give_up("it has too many threads for one message");
        }
        if let Err(why) = to.write_all(&line) {
            self.give_up(&error::without_code(&why));
        }
    }

    fn flush(&mut self) {
        if let Some(to) = &mut self.to
            && let Err(why) = to.flush()
        {
            self.give_up(&error::without_code(&why));
        }
    }

    /// The program goes on; it is only no longer observed.
    fn give_up(&mut self, why: &str) {
        if let Some(to) = self.to.take() {
            // What could not be sent will not be.
            let (connection, _) = to.into_parts();
            connection.close();
            self.views.clear();
            error::print(Severity::Note, &format!("{} is no longer observed: {why}", self.name));
        }
    }
}

fn called(names: &Names, thread: ThreadId) -> String {
    match names.thread_name(thread) {
        "" => format!("T{}", thread.0),
        name => short(name.to_owned()),
    }
}

/// Names of a program may be longer than anybody wants to read.
fn short(text: String) -> String {
    if text.len() > 1000 { text.chars().take(250).collect() } else { text }
}
