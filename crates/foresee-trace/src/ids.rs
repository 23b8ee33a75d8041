//! Small integers that stand for things with names.
//!
//! Every name of a trace is stored once, in [`Names`](crate::Names); events carry these ids. Ids are dense (0, 1, 2, …
//! in order of first use), so per-thread or per-lock state of an engine is a plain `Vec`.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a dense table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}{}", stringify!($name).trim_end_matches("Id").to_lowercase(), self.0)
            }
        }
    };
}

id! {
    /// A thread of the recorded program.
    ThreadId
}
id! {
    /// A lock, reader-writer lock, or the condition a thread waits for.
    LockId
}
id! {
    /// A source location; [`LocId::UNKNOWN`] where the trace has none.
    LocId
}
id! {
    /// An interned string; [`StrId::EMPTY`] is the empty one.
    StrId
}
id! {
    /// A variable of an [`Execution`](crate::Execution): one byte range in one life of its memory.
    VarId
}
id! {
    /// An event of an [`Execution`](crate::Execution), by its position in the observed order (from 0).
    EventId
}

impl LocId {
    /// The location of an event whose trace does not say where it happened.
    pub const UNKNOWN: LocId = LocId(0);
}

impl StrId {
    /// The empty string.
    pub const EMPTY: StrId = StrId(0);
}
