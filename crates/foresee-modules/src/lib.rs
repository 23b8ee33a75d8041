//! Monitors of the user's own, for `raw` bodies of properties: shared libraries with the C interface of `include/foresee-monitors.h`.
//!
//! A library has one function, `foresee_raw_monitors`, that returns a table: for each monitor its name and three functions, over states that are numbers. They have to be functions in the
//! sense of mathematics: what they return depends on their arguments alone. Prediction steps a monitor along runs that did not happen, from any state that it was ever in,
//! and from several threads at once.
//!
//! **A library is code that runs in foresee's process**, from the moment at which it is loaded. So it is loaded only if the user names it. This is the only unsafe code of the command line.

use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use foresee_monitor::formalism::raw::RawMonitor;
use foresee_monitor::spec::raw_monitors::RawMonitors;

/// What the library's function is called.
const TABLE: &CStr = c"foresee_raw_monitors";
/// The version of the interface.
const VERSION: u32 = 1;
/// No library has more monitors; a table that says so is none.
const MOST: u32 = 4096;
/// What states can be, by bit.
const VERDICTS: [&str; 4] = ["match", "fail", "violation", "validation"];

/// Why there are no monitors.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// It is no library that can be loaded.
    #[error("{}: cannot be loaded: {why}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// What the loader says.
        why: String,
    },
    /// It has no monitors.
    #[error("{}: has no function `foresee_raw_monitors`; include/foresee-monitors.h says what it returns", path.display())]
    NoTable {
        /// The library.
        path: PathBuf,
    },
    /// It is for another foresee.
    #[error("{}: has version {found} of the interface; this foresee knows version {VERSION}", path.display())]
    Version {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Something is missing in the table.
    #[error("{}: monitor {number} of its table {what}", path.display())]
    Monitor {
        /// The library.
        path: PathBuf,
        /// Which, from 1.
        number: u32,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// `struct foresee_raw_monitors`
#[repr(C)]
struct Table {
    version: u32,
    count: u32,
    monitors: *const Entry,
}

/// `struct foresee_raw_monitor`
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    name: *const c_char,
    start: Option<unsafe extern "C" fn() -> u64>,
    step: Option<unsafe extern "C" fn(u64, u32) -> u64>,
    verdicts: Option<unsafe extern "C" fn(u64) -> u32>,
}

/// A monitor of a library that is never unloaded.
struct Foreign {
    start: Option<unsafe extern "C" fn() -> u64>,
    step: unsafe extern "C" fn(u64, u32) -> u64,
    verdicts: unsafe extern "C" fn(u64) -> u32,
}

impl RawMonitor for Foreign {
    fn start(&self) -> u64 {
        // SAFETY: the interface says that it can be called at any time, by any thread.
        self.start.map_or(0, |start| unsafe { start() })
    }

    fn step(&self, state: u64, event: u32) -> u64 {
        // SAFETY: as `start`.
        unsafe { (self.step)(state, event) }
    }

    fn verdicts(&self, state: u64) -> &[&'static str] {
        // SAFETY: as `start`.
        subset(unsafe { (self.verdicts)(state) })
    }
}

/// All sets of verdicts, by their bits.
static SUBSETS: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let subset = |bits: usize| {
        let is_in = |(bit, _): &(usize, &&'static str)| bits >> bit & 1 != 0;
        VERDICTS.iter().enumerate().filter(is_in).map(|(_, verdict)| *verdict).collect()
    };
    (0..1 << VERDICTS.len()).map(subset).collect()
});

/// The verdicts of these bits.
fn subset(bits: u32) -> &'static [&'static str] {
    &SUBSETS[bits as usize % SUBSETS.len()]
}

/// Loads a library, for good, and registers its monitors.
pub fn load(path: &Path, monitors: &mut RawMonitors) -> Result<(), ModuleError> {
    let failed = |why: String| ModuleError::Load { path: path.to_owned(), why };
    // A name without a slash would be looked for elsewhere.
    let whole = path.canonicalize().map_err(|why| failed(why.to_string()))?;
    let file = CString::new(whole.as_os_str().as_bytes()).map_err(|why| failed(why.to_string()))?;
    // SAFETY: a text that a zero byte ends; the user has named this library, whose constructors run now.
    let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: it is this thread's own text, until the next call.
        let why = unsafe { libc::dlerror() };
        // SAFETY: a text that a zero byte ends, if it is there.
        let why = (!why.is_null()).then(|| unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned());
        return Err(failed(why.unwrap_or_default()));
    }
    // SAFETY: the library is loaded, and never unloaded.
    let symbol = unsafe { libc::dlsym(library, TABLE.as_ptr()) };
    // SAFETY: a function of this name is one of this type: the interface says so.
    let table: Option<unsafe extern "C" fn() -> *const Table> = unsafe { std::mem::transmute(symbol) };
    let no_table = || ModuleError::NoTable { path: path.to_owned() };
    // SAFETY: as `transmute`; the table it returns stays for good.
    let table = unsafe { table.ok_or_else(no_table)?().as_ref() }.ok_or_else(no_table)?;
    if table.version != VERSION || table.count > MOST {
        return Err(ModuleError::Version { path: path.to_owned(), found: table.version });
    }
    for number in 0..table.count {
        // SAFETY: the table has so many.
        let entry = unsafe { table.monitors.add(number as usize).read() };
        let missing = |what| ModuleError::Monitor { path: path.to_owned(), number: number + 1, what };
        if entry.name.is_null() {
            return Err(missing("has no name"));
        }
        // SAFETY: a text that a zero byte ends, as the interface says.
        let name = unsafe { CStr::from_ptr(entry.name) }.to_string_lossy().into_owned();
        let step = entry.step.ok_or_else(|| missing("has no function `step`"))?;
        let verdicts = entry.verdicts.ok_or_else(|| missing("has no function `verdicts`"))?;
        monitors.register(name, Arc::new(Foreign { start: entry.start, step, verdicts }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_bits() {
        assert!(subset(0).is_empty());
        assert_eq!(subset(1), ["match"]);
        assert_eq!(subset(2 | 8), ["fail", "validation"]);
        assert_eq!(subset(u32::MAX), VERDICTS);
    }

    #[test]
    fn what_is_no_library_is_refused() {
        let mut monitors = RawMonitors::default();
        let refused = load(Path::new("Cargo.toml"), &mut monitors).unwrap_err().to_string();
        assert!(refused.contains("cannot be loaded"), "{refused}");
        assert!(load(Path::new("nowhere.so"), &mut monitors).is_err());
    }
}
