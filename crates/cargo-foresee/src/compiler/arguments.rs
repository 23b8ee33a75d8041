//! What a compiler's command line asks for, as far as instrumenting it needs to know.
//!
//! Everything that is not understood here is a flag and passed on.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::error::CliError;

/// How far the compiler goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Nothing to compile: a question such as `--version`, or a mistake.
    Answer,
    /// Up to an object, assembly or preprocessed text.
    Compile,
    /// To something that others link: a shared library or a partial link. It gets no runtime.
    LinkPart,
    /// To a program.
    LinkProgram,
}

/// One argument, with the value that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// To be compiled; with the language that `-x` gave it.
    Source(OsString, Option<OsString>),
    /// An object or a library: for the linker only.
    ForLinker(OsString),
    /// `-o`.
    Output(OsString),
    /// `-x`.
    Language(OsString),
    /// Anything else, with its value if that is an argument of its own.
    Flag(OsString, Option<OsString>),
}

/// A command line, taken apart.
#[derive(Debug)]
pub(crate) struct CommandLine {
    pub(crate) goal: Goal,
    pub(crate) arguments: Vec<Argument>,
}

/// Flags whose value is the next argument. `-I` and its like may also have it attached.
const WITH_VALUE: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-L",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-B",
    "-F",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-imacros",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isystem",
    "-iquote",
    "-isysroot",
    "-imultilib",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-wrapper",
    "--param",
    "--sysroot",
    "-framework",
];

const SOURCE_ENDINGS: &[&str] = &[
    "c", "i", "ii", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "m", "mm", "M", "mi", "mii", "s", "S", "sx",
    "f", "F", "f90", "F90",
];

impl CommandLine {
    /// Takes a command line apart; refuses what cannot be recorded.
    pub(crate) fn parse(args: &[OsString]) -> Result<CommandLine, CliError> {
        let mut arguments = Vec::with_capacity(args.len());
        let mut language = None;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let argument = match arg.to_str().unwrap_or("") {
                "-o" => Argument::Output(rest.next().cloned().unwrap_or_default()),
                "-x" => {
                    let given = rest.next().cloned().unwrap_or_default();
                    language = Some(given.clone()).filter(|given| given != "none");
                    Argument::Language(given)
                }
                text if text.starts_with("-fsanitize=") => {
                    return Err(CliError::Usage(format!(
                        "{text}: foresee instruments the program itself; remove this flag"
                    )));
                }
                text if WITH_VALUE.contains(&text) => Argument::Flag(arg.clone(), rest.next().cloned()),
                text if text.starts_with("-l") => Argument::ForLinker(arg.clone()),
                text => match (attached(text, "-o"), attached(text, "-x")) {
                    (Some(output), _) => Argument::Output(output),
                    (_, Some(given)) => {
                        language = Some(given.clone()).filter(|given| given != "none");
                        Argument::Language(given)
                    }
                    _ if text.starts_with('-') && text != "-" => Argument::Flag(arg.clone(), None),
                    _ if language.is_some() || is_source(arg) => {
                        Argument::Source(arg.clone(), language.clone())
                    }
                    _ => Argument::ForLinker(arg.clone()),
                },
            };
            arguments.push(argument);
        }
        let line = CommandLine { goal: goal(&arguments), arguments };
        let is_static = |flag: &&str| line.has_flag(flag);
        match ["-static", "-static-pie", "--static"].iter().find(|flag| is_static(flag)) {
            Some(flag) if line.goal == Goal::LinkProgram => Err(CliError::Usage(format!(
                "{flag}: a static program cannot be recorded, as its calls of the C library cannot be seen; link it \
                 dynamically"
            ))),
            _ => Ok(line),
        }
    }

    /// The files to compile.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&OsString, Option<&OsString>)> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Source(path, language) => Some((path, language.as_ref())),
            _ => None,
        })
    }

    /// What concerns compiling as well as linking, in order.
    pub(crate) fn flags(&self) -> impl Iterator<Item = OsString> {
        self.arguments
            .iter()
            .flat_map(|argument| match argument {
                Argument::Flag(flag, value) => [Some(flag.clone()), value.clone()],
                _ => [None, None],
            })
            .flatten()
    }

    /// Whether this flag is there.
    pub(crate) fn has_flag(&self, wanted: &str) -> bool {
        has_flag(&self.arguments, wanted)
    }

    /// What `-o` says.
    pub(crate) fn output(&self) -> Option<&OsStr> {
        self.arguments.iter().rev().find_map(|argument| match argument {
            Argument::Output(path) => Some(path.as_os_str()),
            _ => None,
        })
    }
}

/// `-oprog`, `-xc++`: the value attached to a short flag.
fn attached(text: &str, flag: &str) -> Option<OsString> {
    text.strip_prefix(flag).filter(|value| !value.is_empty()).map(OsString::from)
}

fn has_flag(arguments: &[Argument], wanted: &str) -> bool {
    arguments.iter().any(|argument| matches!(argument, Argument::Flag(flag, _) if flag == wanted))
}

fn goal(arguments: &[Argument]) -> Goal {
    let has = |flags: &[&str]| flags.iter().any(|flag| has_flag(arguments, flag));
    let inputs = arguments.iter().any(|argument| match argument {
        Argument::Source(..) => true,
        Argument::ForLinker(arg) => !arg.as_encoded_bytes().starts_with(b"-l"),
        _ => false,
    });
    if !inputs {
        Goal::Answer
    } else if has(&["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"]) {
        Goal::Compile
    } else if has(&["-shared", "--shared", "-r", "-dynamiclib"]) {
        Goal::LinkPart
    } else {
        Goal::LinkProgram
    }
}

fn is_source(arg: &OsStr) -> bool {
    let ending = Path::new(arg).extension().and_then(OsStr::to_str);
    arg == "-" || ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CommandLine {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        CommandLine::parse(&args).unwrap()
    }

    #[test]
    fn goals() {
        for (line, goal) in [
            ("--version", Goal::Answer),
            ("-print-file-name=crtbegin.o", Goal::Answer),
            ("-lm", Goal::Answer),
            ("-O2 -c a.c -o a.o", Goal::Compile),
            ("-MM a.c", Goal::Compile),
            ("-E -", Goal::Compile),
            ("-shared a.o -o liba.so", Goal::LinkPart),
            ("a.c", Goal::LinkProgram),
            ("-MMD a.o -lm -o a", Goal::LinkProgram),
        ] {
            assert_eq!(parse(line).goal, goal, "{line}");
        }
    }

    #[test]
    fn sources_are_told_from_values_and_objects() {
        let line = parse("-I x.c -DY a.c b.o -x c++ odd.txt -xnone lib.a -MF d.c -oprog c.cpp");
        let sources: Vec<_> =
            line.sources().map(|(path, language)| (path.to_str(), language.is_some())).collect();
        assert_eq!(sources, [(Some("a.c"), false), (Some("odd.txt"), true), (Some("c.cpp"), false)]);
        assert_eq!(line.output(), Some("prog".as_ref()));
    }

    #[test]
    fn what_cannot_be_recorded_is_refused() {
        let refused = |args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            CommandLine::parse(&args).unwrap_err().to_string()
        };
        assert!(refused(&["-c", "-fsanitize=address", "a.c"]).contains("-fsanitize=address"));
        assert!(refused(&["-static", "a.c"]).contains("link it dynamically"));
        assert_eq!(parse("-static -c a.c").goal, Goal::Compile);
    }
}
