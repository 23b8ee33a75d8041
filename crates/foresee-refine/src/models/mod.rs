//! The specifications that foresee brings along: one file each.

pub mod bag;
pub mod buffers;
pub mod channel;
pub mod counter;
pub mod dictionary;
pub mod files;
pub mod kv;
pub mod line;
pub mod map;
pub mod multiset;
pub mod pqueue;
pub mod register;
pub mod set;
pub mod store;
pub mod vector;
pub mod versioned;

pub use buffers::Buffers;
pub use channel::Channel;
pub use counter::Counter;
pub use dictionary::Dictionary;
pub use files::Files;
pub use kv::Kv;
pub use line::{Queue, Stack};
pub use map::Map;
pub use multiset::Multiset;
pub use pqueue::PriorityQueue;
pub use register::Register;
pub use set::Set;
pub use store::Store;
pub use vector::Sequence;
pub use versioned::VersionedMap;
