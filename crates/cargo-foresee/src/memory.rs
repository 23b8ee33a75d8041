//! How much memory there is, and how much of it is ours.
//!
//! What engines and monitors need grows with threads, objects and bindings in ways that no count of events tells, so the process is
//! looked at itself, often enough to stop in time.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// What the program needs before it has read anything, and what may come between two looks: not counted against a limit.
const SPARED: u64 = 200 << 20;

/// In what the kernel counts on x86_64.
const PAGE: u64 = 4096;

/// How many bytes the machine can give.
pub(crate) fn available() -> u64 {
    let known = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = known.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: Option<u64> = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok());
    kib.map_or(4 << 30, |kib| kib * 1024)
}

/// Watches over a limit.
pub(crate) struct Meter {
    statistics: Option<File>,
    most: u64,
}

impl Meter {
    /// For `most` bytes besides what is spared.
    pub(crate) fn new(most: u64) -> Meter {
        Meter { statistics: File::open("/proc/self/statm").ok(), most: most.saturating_add(SPARED) }
    }

    /// Whether the process has more than it may have. Asks the system: not for each event.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.used().is_some_and(|used| used > self.most)
    }

    /// Bytes that are no file's.
    fn used(&self) -> Option<u64> {
        let mut text = [0; 128];
        let len = self.statistics.as_ref()?.read_at(&mut text, 0).ok()?;
        let mut fields = std::str::from_utf8(text.get(..len)?).ok()?.split_whitespace().skip(1);
        let mut pages = || fields.next()?.parse::<u64>().ok();
        let (resident, of_files) = (pages()?, pages()?);
        Some(resident.saturating_sub(of_files) * PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_known() {
        let meter = Meter::new(0);
        let before = meter.used().unwrap();
        let much = vec![1_u8; 300 << 20];
        assert!(meter.used().unwrap() >= before + (100 << 20), "{}", much.len());
        assert!(meter.is_exceeded());
        assert!(!Meter::new(u64::MAX).is_exceeded());
        assert!(available() > 0);
    }
}
