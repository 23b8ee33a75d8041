//! Writing a trace: the form by the path's ending, and a file that appears only when it is complete.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use foresee_trace::file::TraceWriter;
use foresee_trace::text::TextWriter;
use foresee_trace::{Event, EventBatch, EventSink, Facts, Format, Names, TraceError, Trust};

use crate::error::{CliError, without_code};
use crate::whole_file::{Readers, WholeFile};

/// Where a trace is to be written.
pub(crate) enum Target {
    /// Standard output, as text.
    Stdout,
    /// A file that gets its name when it is complete.
    File { format: Format, file: WholeFile },
}

impl Target {
    /// A new file of the form that the ending asks for.
    pub(crate) fn file(path: &Path) -> Result<Self, CliError> {
        let name = path.display();
        let Some(format) = Format::of_path(path) else {
            return Err(CliError::Usage(format!(
                "{name}: which form? expected an output that ends in .ft (binary) or .std (text)"
            )));
        };
        let file = WholeFile::create(path, Readers::Owner)
            .map_err(|why| CliError::Usage(format!("{name}: cannot create: {}", without_code(&why))))?;
        Ok(Target::File { format, file })
    }

    fn name(&self) -> String {
        match self {
            Target::Stdout => "standard output".to_owned(),
            Target::File { file, .. } => file.path().display().to_string(),
        }
    }
}

/// A trace being written.
pub(crate) struct Output {
    target: Target,
    sink: Box<dyn EventSink>,
}

impl Output {
    pub(crate) fn new(target: Target, facts: &Facts) -> Result<Self, CliError> {
        let sink = match &target {
            Target::Stdout => Ok(Box::new(TextWriter::new(io::stdout(), facts)) as Box<dyn EventSink>),
            Target::File { format, file, .. } => file_sink(*format, file, facts),
        };
        match sink {
            Ok(sink) => Ok(Output { target, sink }),
            Err(why) => Err(failed(&target, why)),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, names: &Names, event: &Event<'_>) -> Result<(), CliError> {
        self.sink.push(names, event).map_err(|why| failed(&self.target, why))
    }

    /// Writes all events of a batch.
    pub(crate) fn push_all(&mut self, names: &Names, batch: &EventBatch) -> Result<(), CliError> {
        self.sink.push_all(names, batch).map_err(|why| failed(&self.target, why))
    }

    /// Adds a fact about the run that became known only now.
    pub(crate) fn fact(&mut self, key: &str, value: &str) -> Result<(), CliError> {
        self.sink.fact(key, value).map_err(|why| failed(&self.target, why))
    }

    /// Completes the trace, which lacks what `trust` says, and gives its file the name it was meant to have.
    pub(crate) fn finish(mut self, names: &Names, trust: &Trust) -> Result<(), CliError> {
        self.sink.finish(names, trust).map_err(|why| failed(&self.target, why))?;
        let name = self.target.name();
        match self.target {
            Target::Stdout => io::stdout().flush().map_err(|why| CliError::output(name, why)),
            Target::File { file, .. } => file.finish().map_err(|why| CliError::output(name, why)),
        }
    }
}

fn file_sink(format: Format, file: &WholeFile, facts: &Facts) -> Result<Box<dyn EventSink>, TraceError> {
    let file: File = file.file().try_clone()?;
    Ok(match format {
        Format::Binary => Box::new(TraceWriter::beside(BufWriter::new(file), facts)?),
        Format::Text => Box::new(TextWriter::new(file, facts)),
    })
}

fn failed(target: &Target, why: TraceError) -> CliError {
    match why {
        TraceError::Io(why) => CliError::output(target.name(), why),
        other => CliError::output(target.name(), io::Error::other(other)),
    }
}
