//! The values of an event as monitors know them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::arguments::{Arg, IntoArg};
use crate::life::{Life, ObjectId, plain};

/// A value of an event, with the object's life if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub(super) value: u64,
    life: Option<ObjectId<'a>>,
}

impl<'a> Key<'a> {
    /// By the number, the address, the identity, or for a text its hash.
    #[inline]
    pub fn of(value: impl IntoArg<'a>) -> Key<'a> {
        match value.into_arg() {
            Arg::Int(number) => Key { value: number as u64, life: None },
            Arg::Object(object) => Key { value: object.addr() as u64, life: None },
            Arg::Str(text) => Key { value: hash(text), life: None },
            Arg::Id(id) => Key { value: id.number(), life: Some(id) },
        }
    }

    /// The object at this address.
    pub(super) fn of_address(address: u64) -> Key<'a> {
        Key { value: address, life: None }
    }

    /// The object's life, if it has one.
    #[inline]
    pub(super) fn life(self) -> Option<&'a Life> {
        self.life.map(ObjectId::life)
    }
}

/// Texts with the same letters are the same object.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    plain(hasher.finish())
}
