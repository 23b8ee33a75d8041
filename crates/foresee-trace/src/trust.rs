//! How far a trace can be trusted: what it lacks, and what therefore does not follow from it.
//!
//! A finding is proven by the run that the trace shows. Where the trace knows that it does not show all of that run, it says
//! so as a [`Gap`], and each gap says what it [spoils](Gap::spoils). The knowledge travels with the events: every
//! [`EventSource`](crate::EventSource) has a [`Trust`], every [`EventSink`](crate::EventSink) is given one, so that the same run
//! is judged alike from its raw trace, its packed trace and its text.
//!
//! A new reason to doubt is a variant here, with its code, its text and what it spoils; readers and writers of files need no
//! change.

use std::fmt;

use foresee_format::Stop;

use crate::event::Mem;

/// What a trace says of its own completeness: nothing is missing, or these gaps, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    gaps: Vec<Gap>,
}

impl Trust {
    /// All of the run is in the trace.
    pub fn whole() -> Trust {
        Trust::default()
    }

    /// Whether nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.gaps.is_empty()
    }

    /// What is missing.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Something more is missing.
    pub fn add(&mut self, gap: Gap) {
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// The first gap that spoils this, if any does.
    pub fn spoiled_by(&self, what: Spoils) -> Option<&Gap> {
        self.gaps.iter().find(|gap| gap.spoils() == what)
    }

    /// The names of the locks that are not trusted to be locks.
    pub fn demoted_locks(&self) -> impl Iterator<Item = &str> {
        self.gaps.iter().filter_map(|gap| match gap {
            Gap::DemotedLock(lock) => Some(lock.as_str()),
            _ => None,
        })
    }

    /// What memory changed unseen.
    pub fn unseen_writes(&self) -> impl Iterator<Item = &UnseenWrite> {
        self.gaps.iter().filter_map(|gap| match gap {
            Gap::UnseenWrite(unseen) => Some(unseen),
            _ => None,
        })
    }

    /// Whether any gap spoils this.
    pub fn spoils(&self, what: Spoils) -> bool {
        self.spoiled_by(what).is_some()
    }
}

impl FromIterator<Gap> for Trust {
    fn from_iter<I: IntoIterator<Item = Gap>>(gaps: I) -> Trust {
        let mut trust = Trust::whole();
        gaps.into_iter().for_each(|gap| trust.add(gap));
        trust
    }
}

/// What cannot be concluded because of a gap. Each stands for itself: none includes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoils {
    /// Nothing found in the trace is proven.
    Everything,
    /// Neither predictions nor verdicts of properties are proven, and no schedule can be shown as a witness: in another
    /// schedule, what is missing may have another effect. What was observed was observed.
    Predictions,
    /// Verdicts about the whole run, of properties and of refinement, are not proven.
    WholeRun,
    /// Verdicts about the end of the run do not count: where the trace ends is not where the run did.
    EndOfRun,
    /// What follows from one lock being a lock is not proven.
    OneLock,
    /// What rests on some bytes of memory, or on the order of what happened while they were changed, is not proven.
    SomeMemory,
}

/// Something that a trace does not have, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// The beginning of the run was given up to keep its end (`--keep-last`). From where it begins, the trace is complete.
    NoBeginning,
    /// What the process did before it was forked off is in its parent's trace. From where it begins, the trace is complete.
    AfterFork,
    /// The end of the run. Up to where it ends, the trace is complete.
    NoEnd(NoEnd),
    /// Accesses to memory of functions that the user left out (`--only`, `--skip`). What synchronises is all there.
    AccessesLeftOut,
    /// The recording is damaged, so that the threads' records do not all end at the same moment.
    Damaged,
    /// The trace was read beside the running program, and a record came too late to be put in its place.
    LateRecord,
    /// The program went on, and reused space of its recording, while that was read.
    Overtaken,
    /// A Rust program without debug information: its locks are not recognised.
    NoDebugInfo,
    /// A raw trace that is read without the program's symbols: locks made of atomics are not recognised, and neither is what
    /// else its code would show.
    NotSymbolised,
    /// The program has atomic operations that compilers do not instrument; which.
    UninstrumentedAtomics(String),
    /// So many atomic operations on locks could not be recognised as locking or unlocking.
    UnrecognisedLockOperations(u64),
    /// This lock, made of atomics, did not behave like a lock: given back by another thread than took it, changed by code that is not
    /// known, or held by two. From then on it is the atomic operations that it is made of; what was found by its having
    /// been a lock before is not proven.
    DemotedLock(String),
    /// So many attempts to take a lock failed although nobody was seen to hold it: somebody held it for a moment that the trace
    /// does not show, and in other schedules they may not fail.
    UnexplainedAttempts(u64),
    /// The program had the same memory at two addresses, which are two variables in the trace.
    AliasedMemory,
    /// Code that records nothing wrote to memory, as two reads of it show (`--values`).
    UnseenWrite(UnseenWrite),
    /// Code that records nothing may have ordered threads several times between two moments that the recording knows.
    UnknownMoments,
    /// The system has started a thread, and which threads had ended before is not known any more: while a program is observed, those that nobody can join are forgotten.
    ForgottenThreads,
    /// The file ends before it says what is missing.
    Unstated,
    /// The events are no possible run: what is wrong with the first that cannot have happened.
    Impossible(String),
}

/// Memory that changed between two reads without a recorded write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnseenWrite {
    /// Which memory.
    pub mem: Mem,
    /// The events of the two reads. If it changed more than once, those of the first read and of the last.
    pub events: [u64; 2],
    /// How often it did.
    pub times: u64,
    /// How often it did although no code ran in between that is known to record nothing: what functions do is not known rightly.
    pub unexplained: u64,
    /// For people: what it is called, where it is read, and which code ran in between that records nothing, if that is known.
    pub text: String,
}

impl UnseenWrite {
    fn of_code(code: &str) -> Option<UnseenWrite> {
        let mut words = code.splitn(7, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (addr, size) = (number()?, u32::try_from(number()?).ok()?);
        let (events, times, unexplained) = ([number()?, number()?], number()?, number()?);
        let text = words.next()?.to_owned();
        Some(UnseenWrite { mem: Mem { addr, size }, events, times, unexplained, text })
    }
}

/// The gap as trace files have it, but for its word.
impl fmt::Display for UnseenWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnseenWrite { mem: Mem { addr, size }, events: [first, second], times, unexplained, text } = self;
        write!(f, "{addr} {size} {first} {second} {times} {unexplained} {text}")
    }
}

/// Why the end of a run is not in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEnd {
    /// Recording stopped before the program did.
    Stopped(Stop),
    /// The file is damaged.
    Damaged,
    /// The user interrupted foresee while it read the recording.
    Interrupted,
    /// The time for reading it was over.
    OutOfTime,
    /// The memory for looking at it was used up.
    OutOfMemory,
    /// The program did not come to its end: something else ended it.
    Ended,
}

impl Gap {
    /// What does not follow from a trace with this gap.
    pub fn spoils(&self) -> Spoils {
        match self {
            Gap::NoBeginning | Gap::AfterFork => Spoils::WholeRun,
            Gap::NoEnd(_) => Spoils::EndOfRun,
            Gap::AccessesLeftOut | Gap::UnexplainedAttempts(_) => Spoils::Predictions,
            Gap::DemotedLock(_) => Spoils::OneLock,
            Gap::UnseenWrite(_) => Spoils::SomeMemory,
            Gap::Damaged
            | Gap::LateRecord
            | Gap::Overtaken
            | Gap::NoDebugInfo
            | Gap::NotSymbolised
            | Gap::UninstrumentedAtomics(_)
            | Gap::UnrecognisedLockOperations(_)
            | Gap::AliasedMemory
            | Gap::UnknownMoments
            | Gap::ForgottenThreads
            | Gap::Unstated
            | Gap::Impossible(_) => Spoils::Everything,
        }
    }

    /// The gap as trace files have it: a word, and for some gaps a blank and more.
    pub fn code(&self) -> String {
        match self {
            Gap::NoEnd(why) => format!("{} {}", self.word(), why.word()),
            Gap::UninstrumentedAtomics(which) | Gap::DemotedLock(which) | Gap::Impossible(which) => {
                format!("{} {which}", self.word())
            }
            Gap::UnrecognisedLockOperations(count) | Gap::UnexplainedAttempts(count) => {
                format!("{} {count}", self.word())
            }
            Gap::UnseenWrite(unseen) => format!("{} {unseen}", self.word()),
            _ => self.word().to_owned(),
        }
    }

    /// The gap of a [`code`](Gap::code).
    pub fn of_code(code: &str) -> Option<Gap> {
        let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
        let gap = match word {
            "no-beginning" => Gap::NoBeginning,
            "after-fork" => Gap::AfterFork,
            "no-end" => Gap::NoEnd(NoEnd::ALL.into_iter().find(|why| why.word() == rest)?),
            "accesses-left-out" => Gap::AccessesLeftOut,
            "damaged" => Gap::Damaged,
            "late-record" => Gap::LateRecord,
            "overtaken" => Gap::Overtaken,
            "no-debug-info" => Gap::NoDebugInfo,
            "not-symbolised" => Gap::NotSymbolised,
            "uninstrumented-atomics" => Gap::UninstrumentedAtomics(rest.to_owned()),
            "unrecognised-lock-operations" => Gap::UnrecognisedLockOperations(rest.parse().ok()?),
            "unexplained-attempts" => Gap::UnexplainedAttempts(rest.parse().ok()?),
            "demoted-lock" => Gap::DemotedLock(rest.to_owned()),
            "aliased-memory" => Gap::AliasedMemory,
            "unseen-write" => Gap::UnseenWrite(UnseenWrite::of_code(rest)?),
            "unknown-moments" => Gap::UnknownMoments,
            "forgotten-threads" => Gap::ForgottenThreads,
            "unstated" => Gap::Unstated,
            "impossible" => Gap::Impossible(rest.to_owned()),
            _ => return None,
        };
        // What only looks like a code, such as one with more behind it, is none.
        (gap.code() == code).then_some(gap)
    }

    fn word(&self) -> &'static str {
        match self {
            Gap::NoBeginning => "no-beginning",
            Gap::AfterFork => "after-fork",
            Gap::NoEnd(_) => "no-end",
            Gap::AccessesLeftOut => "accesses-left-out",
            Gap::Damaged => "damaged",
            Gap::LateRecord => "late-record",
            Gap::Overtaken => "overtaken",
            Gap::NoDebugInfo => "no-debug-info",
            Gap::NotSymbolised => "not-symbolised",
            Gap::UninstrumentedAtomics(_) => "uninstrumented-atomics",
            Gap::UnrecognisedLockOperations(_) => "unrecognised-lock-operations",
            Gap::UnexplainedAttempts(_) => "unexplained-attempts",
            Gap::DemotedLock(_) => "demoted-lock",
            Gap::AliasedMemory => "aliased-memory",
            Gap::UnseenWrite(_) => "unseen-write",
            Gap::UnknownMoments => "unknown-moments",
            Gap::ForgottenThreads => "forgotten-threads",
            Gap::Unstated => "unstated",
            Gap::Impossible(_) => "impossible",
        }
    }
}

impl NoEnd {
    const ALL: [NoEnd; 14] = [
        NoEnd::Stopped(Stop::NoRoom),
        NoEnd::Stopped(Stop::MaxSize),
        NoEnd::Stopped(Stop::LittleRoom),
        NoEnd::Stopped(Stop::Threads),
        NoEnd::Stopped(Stop::Taken),
        NoEnd::Stopped(Stop::Refused),
        NoEnd::Stopped(Stop::TooLong),
        NoEnd::Stopped(Stop::Failed),
        NoEnd::Stopped(Stop::NoMemory),
        NoEnd::Damaged,
        NoEnd::Interrupted,
        NoEnd::OutOfTime,
        NoEnd::OutOfMemory,
        NoEnd::Ended,
    ];

    fn word(self) -> &'static str {
        match self {
            NoEnd::Stopped(Stop::NoRoom) => "disk-full",
            NoEnd::Stopped(Stop::MaxSize) => "max-size",
            NoEnd::Stopped(Stop::LittleRoom) => "disk-nearly-full",
            NoEnd::Stopped(Stop::Threads) => "too-many-threads",
            NoEnd::Stopped(Stop::Taken) => "descriptor-taken",
            NoEnd::Stopped(Stop::Refused) => "forbidden",
            NoEnd::Stopped(Stop::TooLong) => "too-long",
            NoEnd::Stopped(Stop::Failed) => "disk-failed",
            NoEnd::Stopped(Stop::NoMemory) => "no-memory",
            NoEnd::Damaged => "damaged",
            NoEnd::Interrupted => "interrupted",
            NoEnd::OutOfTime => "out-of-time",
            NoEnd::OutOfMemory => "out-of-memory",
            NoEnd::Ended => "ended",
        }
    }
}

impl fmt::Display for NoEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoEnd::Stopped(stop) => stop.why(),
            NoEnd::Damaged => "the file is damaged",
            NoEnd::Interrupted => "foresee was interrupted while it read the recording",
            NoEnd::OutOfTime => "there was no time to read all of the recording",
            NoEnd::OutOfMemory => "there was not enough memory to look at all of the recording (--memory)",
            NoEnd::Ended => {
                "the program did not end by itself (a signal, `exec`, `_exit` or `quick_exit` ended it)"
            }
        })
    }
}

/// The reason, in one line for people.
impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::AfterFork => f.write_str(
                "what the process did before it was forked off is not in its trace, but in that of its parent",
            ),
            Gap::NoBeginning => f.write_str(
                "the beginning of the run is not in the trace: only the last part of the run is kept (--keep-last)",
            ),
            Gap::NoEnd(why) => write!(f, "the end of the run is not in the trace: {why}"),
            Gap::AccessesLeftOut => f.write_str(
                "accesses to memory in functions that --only and --skip leave out are not in the trace, so that \
                 predictions are not proven",
            ),
            Gap::Damaged => {
                f.write_str("the recording is damaged, so events of some threads may be missing")
            }
            Gap::LateRecord => {
                f.write_str("the recording was read while the program ran, and one of its threads was too slow")
            }
            Gap::Overtaken => f.write_str("the program went on while its recording was read"),
            Gap::NoDebugInfo => f.write_str(
                "the program has no debug information, by which Rust's locks are recognised (build it by \
                 `cargo foresee`, and do not strip it)",
            ),
            Gap::NotSymbolised => f.write_str(
                "the raw trace was read without the program's symbols, by which locks are recognised",
            ),
            Gap::UninstrumentedAtomics(which) => {
                write!(f, "the program has {which}, which compilers do not instrument")
            }
            Gap::UnrecognisedLockOperations(count) => {
                write!(f, "{count} atomic operations on locks were not recognised as locking or unlocking")
            }
            Gap::UnexplainedAttempts(count) => write!(
                f,
                "{count} attempts to take a lock failed although nobody was seen to hold it, so that predictions are not proven"
            ),
            Gap::DemotedLock(lock) => write!(
                f,
                "`{lock}` did not behave like a lock (such as a guard dropped by another thread), so that findings that \
                 rest on it are not proven"
            ),
            Gap::AliasedMemory => f.write_str(
                "the program had the same memory at two addresses (mapped or attached twice), which are taken for two",
            ),
            Gap::UnseenWrite(unseen) => {
                write!(f, "code that is not recorded wrote {}", unseen.text)
            }
            Gap::UnknownMoments => f.write_str(
                "code that is not recorded may have ordered threads, and when it ran is not known exactly enough to tell (record \
                 with FORESEE_CLOCK=counter)",
            ),
            Gap::ForgottenThreads => f.write_str(
                "the system has started a thread, which comes after detached threads that are forgotten since they have ended",
            ),
            Gap::Unstated => f.write_str("the file ends before it says whether its recording is complete"),
            Gap::Impossible(why) => write!(f, "not a possible run (see foresee trace validate): {why}"),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One of each kind.
    pub(crate) fn every_gap() -> Vec<Gap> {
        let ends = NoEnd::ALL.into_iter().map(Gap::NoEnd);
        let others = [
            Gap::NoBeginning,
            Gap::AfterFork,
            Gap::AccessesLeftOut,
            Gap::Damaged,
            Gap::LateRecord,
            Gap::Overtaken,
            Gap::NoDebugInfo,
            Gap::NotSymbolised,
            Gap::UninstrumentedAtomics("atomic `fetch_max` or `fetch_min`".to_owned()),
            Gap::UnrecognisedLockOperations(7),
            Gap::UnexplainedAttempts(2),
            Gap::DemotedLock("l@0x100:Mutex<[u8; 2]>".to_owned()),
            Gap::AliasedMemory,
            Gap::UnseenWrite(UnseenWrite {
                mem: Mem { addr: 0x1_0000, size: 8 },
                events: [3, 17],
                times: 2,
                unexplained: 1,
                text: "`total`, read at a.c:7".to_owned(),
            }),
            Gap::UnknownMoments,
            Gap::ForgottenThreads,
            Gap::Unstated,
            Gap::Impossible("event 3 of `T1` releases a lock it does not hold".to_owned()),
        ];
        ends.chain(others).collect()
    }

    #[test]
    fn gaps_come_back_from_their_codes() {
        for gap in every_gap() {
            assert_eq!(Gap::of_code(&gap.code()), Some(gap.clone()), "{gap:?}");
        }
        for wrong in ["", "whole", "no-end", "no-end now", "damaged ", "damaged much"] {
            assert_eq!(Gap::of_code(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_gap_counts_once() {
        let trust: Trust = [Gap::Damaged, Gap::NoBeginning, Gap::Damaged].into_iter().collect();
        assert_eq!(trust.gaps(), [Gap::Damaged, Gap::NoBeginning]);
        assert!(trust.spoils(Spoils::WholeRun) && !trust.spoils(Spoils::EndOfRun));
        assert!(Trust::whole().is_whole() && !trust.is_whole());
    }
}
