//! What a program and its observer say to each other: one JSON object per line.
//!
//! The program says [`Message::Hello`] and gets a [`Reply`] with the spec. From then on only the program speaks. Messages of one session
//! may come through many connections, each of which begins with its own hello; apart from that, in any order.
//!
//! **Clocks count by places.** A place is called by the thread that has it first. When that has ended, another one that comes after all that was done in the place may have it, and says so
//! (`after`): its events are counted on from there, as if they were those of the first. So clocks need not grow with threads that come one after the other.

use serde::{Deserialize, Serialize};

/// The version of the protocol; since 3 threads may go on in the places of others, and variables that the program lacks are told.
pub const VERSION: u32 = 3;

/// No line is longer, the end of line not counted.
pub const LONGEST_LINE: usize = 1 << 16;

/// What a program says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Message {
    /// The first one of a connection.
    Hello(Hello),
    /// A property looks at this event.
    Relevant(Relevant),
    /// What a thread will do next comes after this.
    Silent(Silent),
    /// What was said, or will be, may be wrong.
    Doubt(String),
    /// Whether the program has the variables of a property.
    Variables(Variables),
    /// The program has ended.
    Ended(Ended),
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Must be [`VERSION`].
    pub version: u32,
    /// The same for all connections of a run, and for no other run.
    pub session: String,
    /// What people call it.
    pub program: String,
    /// The secret that both sides know, if the observer asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// An event that a property looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relevant {
    /// By position in the spec.
    pub property: u32,
    /// How many messages of this property, events and promises, came before it.
    pub number: u32,
    /// Who did it.
    pub thread: u32,
    /// The first thread that had its place, if that was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// How many relevant events of each place come before it or are it; places without any are left out.
    pub clock: Vec<(u32, u32)>,
    /// What it is to the property, in order.
    pub acts: Vec<Act>,
    /// What people call the thread.
    pub name: String,
    /// Where in the program.
    pub place: String,
    /// What people call the values of parameters that it carries: the parameter, by position, the value, and its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called: Vec<(u8, u64, String)>,
}

/// What an event is to a property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// An event of the property, by position, with what it carries.
    Event(u32, Vec<u64>),
    /// A variable of the property, by position, gets a value.
    Assign(u32, i64),
}

/// A promise: the next relevant event of a thread has at least this clock, its own count aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Silent {
    /// By position in the spec.
    pub property: u32,
    /// How many messages of this property came before it.
    pub number: u32,
    /// Whose.
    pub thread: u32,
    /// As for an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u32>,
    /// As for an event; its own count is what was done in its place.
    pub clock: Vec<(u32, u32)>,
    /// It has ended: there is no next event.
    pub ended: bool,
}

/// Whether the program has the variables of a property, as far as is known. It is taken to have them as long as nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variables {
    /// By position in the spec.
    pub property: u32,
    /// One that it does not have, and what was perhaps meant, for people.
    pub missing: Option<MissingVariable>,
}

/// A variable that a property names and a program does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingVariable {
    /// What the property calls it.
    pub name: String,
    /// Variables of similar names.
    pub nearest: Vec<String>,
}

/// The end of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// By property, how many messages there were.
    pub messages: Vec<u32>,
}

/// What the observer says to a hello.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Go on, with this spec.
    Welcome {
        /// The text of the spec.
        spec: String,
    },
    /// No, and why.
    Refused(String),
}

/// A line that says nothing.
#[derive(Debug, thiserror::Error)]
pub enum NotAMessage {
    /// Not JSON, or another object.
    #[error("it is no message: {0}")]
    Json(#[from] serde_json::Error),
    /// Too long.
    #[error("a line of more than {LONGEST_LINE} bytes")]
    Long,
}

/// Reads one line.
pub fn parse(line: &[u8]) -> Result<Message, NotAMessage> {
    if line.len() > LONGEST_LINE {
        return Err(NotAMessage::Long);
    }
    Ok(serde_json::from_slice(line)?)
}

impl Message {
    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        line(self)
    }
}

impl Reply {
    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        line(self)
    }
}

fn line(value: &impl Serialize) -> Vec<u8> {
    // Strings, numbers and lists always have a form; if not, an empty line is refused by the other side.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}
