//! The program's side: meets the observer and tells it what the program does, as its recording is read.
//!
//! Whatever happens to the observer, the program goes on: it is only no longer observed. Before it begins, it waits no longer than
//! [`ANSWERS`] for all that is said until then, however slowly the other side says it; what a spec can cost is bounded by
//! `foresee_monitor::spec::limits`.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use foresee_lattice::online::{Ended, Hello, LONGEST_LINE, Message, Reply, Speaker, VERSION};
use foresee_monitor::Compiled;
use foresee_monitor::spec::limits;
use foresee_monitor::spec::raw_monitors::RawMonitors;
use foresee_symbols::calls::WantedCall;
use foresee_trace::raw::RawReader;
use foresee_trace::{EventSource as _, Spoils, ThreadId};

use super::OBSERVER_VARIABLE;
use super::address::{Address, Connection};
use crate::error::{self, Severity};
use crate::specs;

/// The observer must have answered within: looking up its address, connecting, and its whole answer.
const ANSWERS: Duration = Duration::from_secs(5);

/// So long what is left is told of a program that has ended.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// The longest spec that is taken from an observer.
const LONGEST_SPEC: u64 = 4 * limits::SIZE as u64;

/// An observer that wants to hear of a program.
pub(crate) struct Meeting {
    address: String,
    connection: Connection,
    /// Its properties.
    spec: Compiled,
    program: String,
}

impl Meeting {
    /// Says hello to the observer that `FORESEE_OBSERVER` names, if it names one. If there is nobody, that is told.
    pub(crate) fn of(program: &str, secret: Option<String>) -> Option<Meeting> {
        let address = std::env::var(OBSERVER_VARIABLE).ok().filter(|address| !address.is_empty())?;
        let program = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
        match meet(&address, &program, secret) {
            Ok(meeting) => Some(meeting),
            Err(why) => {
                error::print(Severity::Note, &format!("{program} runs unobserved: {why}"));
                None
            }
        }
    }

    /// The calls that properties want the values of. (Of others, instrumented code tells.)
    pub(crate) fn calls(&self) -> Vec<WantedCall> {
        let mut calls = specs::calls(&self.spec.properties);
        calls.retain(WantedCall::has_values);
        calls
    }

    /// The variables of the program that properties speak of.
    pub(crate) fn variables(&self) -> Vec<String> {
        let vars = self.spec.properties.iter().flat_map(|property| &property.vars);
        vars.map(|var| var.name.clone()).collect()
    }

    /// Where the observer is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What the observer calls the program.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Begins to tell.
    pub(crate) fn teller(&self) -> Teller<'_> {
        let properties = self.spec.properties.iter().zip(0..);
        let speakers = properties.map(|(property, position)| Speaker::new(position, property)).collect();
        // Without a connection nothing is told.
        let to = self.connection.try_clone().ok().map(BufWriter::new);
        Teller { to, program: &self.program, speakers, in_doubt: false, knows_facts: false, deadline: None }
    }
}

fn meet(address: &str, program: &str, secret: Option<String>) -> Result<Meeting, String> {
    let (answer, answered) = mpsc::channel();
    let (to, name) = (address.to_owned(), program.to_owned());
    // If it takes too long, it ends when the other side lets it, or with this process: nobody waits for it.
    std::thread::spawn(move || answer.send(greet(&to, &name, secret)));
    let too_slow = |_| format!("observer {address}: it did not answer within {} s", ANSWERS.as_secs());
    let (connection, line) = answered.recv_timeout(ANSWERS).map_err(too_slow)??;
    match serde_json::from_slice(&line) {
        Ok(Reply::Welcome { spec }) => {
            let broken =
                |_| format!("observer {address}: it has a spec that this foresee does not understand");
            // Monitors of the observer's own are run there.
            let mut monitors = RawMonitors::default();
            monitors.stand_in(&spec);
            let spec = foresee_monitor::compile_with(&spec, &monitors).map_err(broken)?;
            Ok(Meeting { address: address.to_owned(), connection, spec, program: program.to_owned() })
        }
        Ok(Reply::Refused(why)) => Err(format!("observer {address} refuses: {why}")),
        Err(_) => Err(format!("{address} is no observer, or of another version")),
    }
}

/// Says hello; the connection, and what the other side answers.
fn greet(address: &str, program: &str, secret: Option<String>) -> Result<(Connection, Vec<u8>), String> {
    let failed = |why: std::io::Error| format!("observer {address}: {}", error::without_code(&why));
    let mut connection = Address::parse(address)?.connect(ANSWERS).map_err(failed)?;
    connection.limit(ANSWERS, ANSWERS).map_err(failed)?;
    let random = || RandomState::new().hash_one(std::process::id());
    let session = format!("{:016x}{:016x}", random(), random());
    let hello = Hello { version: VERSION, session, program: program.to_owned(), secret };
    connection.write_all(&Message::Hello(hello).line()).map_err(failed)?;
    let mut line = Vec::new();
    let reading = connection.try_clone().map_err(failed)?;
    BufReader::new(std::io::Read::take(reading, LONGEST_SPEC))
        .read_until(b'\n', &mut line)
        .map_err(failed)?;
    Ok((connection, line))
}

/// Who tells the observer.
pub(crate) struct Teller<'m> {
    /// `None` once there is nobody to tell.
    to: Option<BufWriter<Connection>>,
    program: &'m str,
    /// One per property.
    speakers: Vec<Speaker<'m>>,
    in_doubt: bool,
    /// What the recording says of the program's variables is known to the speakers.
    knows_facts: bool,
    /// When it is too late to tell more: the program has ended, and whoever waits for it waits for us.
    deadline: Option<Instant>,
}

impl Teller<'_> {
    /// The next event of the program.
    pub(crate) fn event(&mut self, reader: &RawReader) {
        if !std::mem::replace(&mut self.knows_facts, true) {
            self.speakers.iter_mut().for_each(|speaker| speaker.learn_facts(reader.facts()));
        }
        let (names, event) = (reader.names(), reader.event());
        self.speak(|speaker, say| {
            speaker.variables(names, reader.facts(), say);
            speaker.event(names, &event, say);
        });
    }

    /// A thread of the program has gone: it has ended, and no event that comes speaks of it.
    pub(crate) fn forget(&mut self, gone: ThreadId) {
        self.speakers.iter_mut().for_each(|speaker| speaker.forget(gone));
    }

    /// The program has ended: what is left is told within a few seconds, or not at all.
    pub(crate) fn hurry(&mut self) {
        self.deadline = self.deadline.or_else(|| Instant::now().checked_add(AFTERWARDS));
    }

    /// All that is there for now was read: tells what is known of threads that do nothing relevant, and sends everything.
    pub(crate) fn after_look(&mut self, reader: &RawReader) {
        if let Some(why) = reader.trust().spoiled_by(Spoils::Everything)
            && !std::mem::replace(&mut self.in_doubt, true)
        {
            self.say(&Message::Doubt(why.to_string()));
        }
        self.speak(|speaker, say| speaker.idle(say));
        self.flush();
    }

    /// The program has ended, and all was read.
    pub(crate) fn end(&mut self, reader: &RawReader) {
        self.speak(|speaker, say| {
            speaker.doubt(say);
            speaker.look_for_variables(reader.names(), reader.facts(), say);
        });
        self.after_look(reader);
        let messages = self.speakers.iter().map(Speaker::said).collect();
        self.say(&Message::Ended(Ended { messages }));
        self.flush();
    }

    /// The program goes on; it is only no longer observed.
    pub(crate) fn give_up(&mut self, why: &str) {
        if let Some(to) = self.to.take() {
            // What could not be sent will not be.
            let (connection, _) = to.into_parts();
            connection.close();
            self.speakers.clear();
            error::print(Severity::Note, &format!("{} is no longer observed: {why}", self.program));
        }
    }

    /// Says what the speakers have to say.
    fn speak(&mut self, mut of: impl FnMut(&mut Speaker<'_>, &mut dyn FnMut(&Message))) {
        if self.to.is_some() && self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return self.give_up("it has ended, and the observer is too slow to hear the rest");
        }
        let mut failed = None;
        let Some(to) = &mut self.to else { return };
        for speaker in &mut self.speakers {
            of(speaker, &mut |message| {
                if failed.is_none() {
                    failed = write(to, message).err();
                }
            });
        }
        if let Some(why) = failed {
            self.give_up(&why);
        }
    }

    fn flush(&mut self) {
        if let Some(to) = &mut self.to
            && let Err(why) = to.flush()
        {
            self.give_up(&error::without_code(&why));
        }
    }

    fn say(&mut self, message: &Message) {
        let Some(to) = &mut self.to else { return };
        if let Err(why) = write(to, message) {
            self.give_up(&why);
        }
    }
}

fn write(to: &mut BufWriter<Connection>, message: &Message) -> Result<(), String> {
    let line = message.line();
    if line.len() > LONGEST_LINE {
        return Err("it has too many threads for one message".to_owned());
    }
    to.write_all(&line).map_err(|why| error::without_code(&why))
}
