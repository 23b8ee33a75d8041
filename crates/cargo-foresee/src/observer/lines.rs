//! What a connection says, line by line, however slowly.

use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use foresee_lattice::online::LONGEST_LINE;

use super::address::Connection;
use super::shared::Shared;

/// A message, once begun, must be there after so long.
pub(super) const STALLED: Duration = Duration::from_secs(10);

/// The lines of a connection.
pub(super) struct Lines {
    pub(super) connection: Connection,
    buffer: Vec<u8>,
    /// When the present line must be there.
    due: Option<Instant>,
}

impl Lines {
    /// The first line must be there after so long.
    pub(super) fn new(connection: Connection, first: Duration) -> Lines {
        Lines { connection, buffer: Vec::new(), due: Instant::now().checked_add(first) }
    }

    /// A line that is here already.
    pub(super) fn next_at_hand(&mut self) -> Option<Vec<u8>> {
        self.take(0)
    }

    /// The next line, `None` at the end.
    pub(super) fn next(&mut self, shared: &Shared) -> Result<Option<Vec<u8>>, String> {
        let mut searched = 0;
        loop {
            if let Some(line) = self.take(searched) {
                return Ok(Some(line));
            }
            searched = self.buffer.len();
            if searched > LONGEST_LINE {
                return Err(format!("a line of more than {LONGEST_LINE} bytes"));
            }
            if shared.is_stopped() {
                return Ok(None);
            }
            if self.due.is_some_and(|due| Instant::now() >= due) {
                return Err("it stalled in the middle of a message".to_owned());
            }
            let mut piece = [0; 1 << 14];
            match self.connection.read(&mut piece) {
                Ok(0) if self.buffer.is_empty() => return Ok(None),
                Ok(0) => return Err("it disconnected in the middle of a message".to_owned()),
                Ok(count) => {
                    self.due = self.due.or_else(|| Instant::now().checked_add(STALLED));
                    self.buffer.extend_from_slice(&piece[..count]);
                }
                Err(why) => match why.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {}
                    _ => return Err(why.to_string()),
                },
            }
        }
    }

    /// The first line, if it ends in what was not searched.
    fn take(&mut self, searched: usize) -> Option<Vec<u8>> {
        let end = self.buffer[searched..].iter().position(|&byte| byte == b'\n')?;
        let mut line: Vec<u8> = self.buffer.drain(..=searched + end).collect();
        line.pop();
        self.due = if self.buffer.is_empty() { None } else { Instant::now().checked_add(STALLED) };
        Some(line)
    }
}
