//! Correct programs, one for each way to order threads: nothing is to be found in any of them, however they are scheduled.
//!
//! `correct GROUP` runs a group, `correct GROUP NAME` one program of it.

mod assembly;
mod atomics;
mod attempts;
mod channels;
mod handed_over;
mod late;
mod library;
mod locks;
mod newest_parking;
mod outside;
mod parking;
mod sharing;
mod spinning;
mod stealing;
mod threads;
mod waiting;

/// A program, by its name.
type Program = (&'static str, fn());

const GROUPS: &[(&str, &[Program])] = &[
    ("assembly", assembly::ALL),
    ("atomics", atomics::ALL),
    ("attempts", attempts::ALL),
    ("channels", channels::ALL),
    ("handed_over", handed_over::ALL),
    ("late", late::ALL),
    ("library", library::ALL),
    ("locks", locks::ALL),
    ("newest_parking", newest_parking::ALL),
    ("outside", outside::ALL),
    ("parking", parking::ALL),
    ("sharing", sharing::ALL),
    ("spinning", spinning::ALL),
    ("stealing", stealing::ALL),
    ("threads", threads::ALL),
    ("waiting", waiting::ALL),
];

/// A cell that some lock or order protects, as the compiler cannot know.
pub(crate) struct Plain<T>(std::cell::UnsafeCell<T>);

// SAFETY: the programs here never access it from two threads without order between them: that is what they are for.
unsafe impl<T> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub(crate) const fn new(value: T) -> Self {
        Plain(std::cell::UnsafeCell::new(value))
    }

    #[inline(never)]
    pub(crate) fn set(&self, value: T) {
        unsafe { *self.0.get() = value }
    }

    pub(crate) fn address(&self) -> *mut T {
        self.0.get()
    }

    #[inline(never)]
    pub(crate) fn get(&self) -> T {
        unsafe { *self.0.get() }
    }
}

#[global_allocator]
static ALLOCATOR: threads::Counting = threads::Counting;

fn main() {
    // Panics are part of some programs, and what they print is not.
    std::panic::set_hook(Box::new(|_| ()));
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (group, only) = (words[0].as_str(), words.get(1));
    let programs = GROUPS.iter().find(|(name, _)| *name == group).unwrap().1;
    for (name, program) in programs {
        if only.is_none_or(|only| only == name) {
            program();
        }
    }
    if group == "threads" {
        threads::exit_while_threads_run();
    }
}
