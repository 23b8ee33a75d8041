//! What properties know objects by.
//!
//! A parameter's value is a number. Memory is its address, so that a lock, the object that a named event carries and the bytes an
//! access touches are one object if they have one address. Addresses are used again, and an object that follows another at its
//! address is not that object: from the second life on, the number of the life is put into bits that no address of a program has.
//! Freeing a block ends the life of all objects in it; so does another lock at the place of a lock. Of the arguments of a call, those are meant that were there when it began (`begun`).
//!
//! Locks that have no address (text traces know names only) and strings have ranges of their own. Strings that the property compares
//! values with are known by the numbers that its guards have for them.
//!
//! Cost: a hash lookup per object and event; memory for each address that a property's event has ever mentioned.

mod begun;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use self::begun::Begun;
use crate::predicate::text_number;

/// Where the number of the life is.
const LIFE: u64 = 0x1fff << LIFE_SHIFT;
const LIFE_SHIFT: u32 = 47;
/// A lock without an address.
const LOCK: u64 = 1 << 61;
/// A string.
const STRING: u64 = 1 << 62;
/// What no address of a program has set.
const SPECIAL: u64 = LIFE | LOCK | STRING | 1 << 63;

/// What a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A lock of which only the name is known, by a number that its user has given it.
    Lock(u32),
    /// A string, by a number that its user has given it.
    String(u32),
    /// The property's own text of this position.
    Text(usize),
    /// Something at this address.
    At(u64),
}

/// All objects that were mentioned.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    lives: FxHashMap<u64, Life>,
    /// The addresses that were mentioned in their present life.
    present: BTreeSet<u64>,
    begun: Begun,
}

#[derive(Clone, Copy, Debug, Default)]
struct Life {
    number: u64,
    mentioned: bool,
    /// The lock that is there, if one is.
    lock: Option<u32>,
}

impl Objects {
    /// The object at an address.
    pub fn at(&mut self, addr: u64) -> u64 {
        // What is not an address of a program has no lives.
        if addr & SPECIAL != 0 {
            return addr;
        }
        let life = self.lives.entry(addr).or_default();
        if !life.mentioned {
            life.mentioned = true;
            self.present.insert(addr);
        }
        numbered(addr, life.number)
    }

    /// The lock at an address; `ended` gets the object that was there, if it was another lock and is gone.
    pub fn lock_at(&mut self, addr: u64, lock: u32, ended: impl FnOnce(u64)) -> u64 {
        let before = self.lives.get(&addr).and_then(|life| life.lock);
        if before.is_some_and(|before| before != lock) {
            let before = self.at(addr);
            if self.end(before) {
                ended(before);
            }
        }
        if before != Some(lock) {
            self.lives.entry(addr).or_default().lock = Some(lock);
        }
        self.at(addr)
    }

    /// A lock without an address.
    pub fn lock(lock: u32) -> u64 {
        LOCK | u64::from(lock)
    }

    /// A string, by a number that its user has given it.
    pub fn string(text: u32) -> u64 {
        STRING | u64::from(text)
    }

    /// A string that is the property's own text of this position.
    pub fn text(position: usize) -> u64 {
        text_number(position)
    }

    /// The objects in a block of memory that were mentioned.
    pub fn in_block(&self, addr: u64, size: u64) -> Vec<u64> {
        let last = addr.saturating_add(size.max(1) - 1);
        let number = |addr: &u64| self.lives.get(addr).map_or(0, |life| life.number);
        self.present.range(addr..=last).map(|addr| numbered(*addr, number(addr))).collect()
    }

    /// A call with this number begins with what is at these addresses. Tells of objects that are gone, as the call that had the number before was left.
    pub fn call_begins(&mut self, call: u64, addrs: impl IntoIterator<Item = u64>, gone: impl FnMut(u64)) {
        let objects: Vec<(u64, u64)> = addrs.into_iter().map(|addr| (addr, self.at(addr))).collect();
        self.begun.begin(call, objects.into_iter(), gone);
    }

    /// What a call was given at an address, as far as its beginning is known.
    pub fn given(&mut self, call: u64, addr: u64) -> u64 {
        self.begun.given(call, addr).unwrap_or_else(|| self.at(addr))
    }

    /// The call with this number has returned. Tells of objects that are gone now.
    pub fn call_ends(&mut self, call: u64, gone: impl FnMut(u64)) {
        self.begun.end(call, gone);
    }

    /// The life of an object ends; what comes to its address is another. Whether it is gone: no event will mention it again.
    #[must_use]
    pub fn end(&mut self, object: u64) -> bool {
        let addr = object & !LIFE;
        self.present.remove(&addr);
        if let Some(life) = self.lives.get_mut(&addr) {
            *life = Life { number: life.number + 1, mentioned: false, lock: None };
        }
        !self.begun.holds(object)
    }

    /// What a number stands for.
    pub fn what(&self, object: u64) -> Object {
        match object {
            _ if object & SPECIAL == LOCK => Object::Lock(object as u32),
            _ if object & SPECIAL == STRING && object >= text_number(0) => {
                Object::Text(object as u32 as usize)
            }
            _ if object & SPECIAL == STRING => Object::String(object as u32),
            _ if self.lives.contains_key(&(object & !LIFE)) => Object::At(object & !LIFE),
            _ => Object::At(object),
        }
    }
}

/// After eight thousand lives at one address they begin anew: no property holds on to the dead for that long.
fn numbered(addr: u64, life: u64) -> u64 {
    addr | life << LIFE_SHIFT & LIFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_at_an_address_is_another_object() {
        let mut objects = Objects::default();
        let first = objects.at(0x1008);
        assert_eq!((first, objects.at(0x1008)), (0x1008, 0x1008));
        let inside = objects.in_block(0x1000, 16);
        assert_eq!(inside, [0x1008]);
        assert!(inside.into_iter().all(|object| objects.end(object)));
        let second = objects.at(0x1008);
        assert_ne!(second, first);
        assert_eq!((objects.what(first), objects.what(second)), (Object::At(0x1008), Object::At(0x1008)));
        assert_eq!(objects.in_block(0x1008, 1), [second]);
    }

    #[test]
    fn another_lock_at_the_place_is_another_object() {
        let mut objects = Objects::default();
        let mut ended = Vec::new();
        let first = objects.lock_at(0x10, 0, |object| ended.push(object));
        assert_eq!(objects.lock_at(0x10, 0, |object| ended.push(object)), first);
        assert_eq!(objects.at(0x10), first);
        let second = objects.lock_at(0x10, 1, |object| ended.push(object));
        assert_ne!(second, first);
        assert_eq!(ended, [first]);
        assert_eq!(objects.what(Objects::lock(7)), Object::Lock(7));
        assert_eq!(objects.what(Objects::string(7)), Object::String(7));
        assert_eq!(objects.what(Objects::string(u32::MAX)), Object::String(u32::MAX));
        assert_eq!(objects.what(Objects::text(7)), Object::Text(7));
    }

    #[test]
    fn numbers_that_are_no_addresses_stay_as_they_are() {
        let mut objects = Objects::default();
        for odd in [u64::MAX, 1 << 63, LIFE, 1 << 50] {
            assert_eq!(objects.at(odd), odd);
            assert!(objects.end(odd));
            assert_eq!(objects.at(odd), odd);
        }
    }

    #[test]
    fn a_call_has_what_was_there_when_it_began() {
        let nothing = |_| panic!("nothing is gone");
        let mut objects = Objects::default();
        let first = objects.at(0x1000);
        objects.call_begins(7, [0x1000], nothing);
        objects.call_begins(8, [0x1000, 0x2000], nothing);
        assert!(!objects.end(first));
        let second = objects.at(0x1000);
        objects.call_begins(9, [0x1000], nothing);
        assert_eq!((objects.given(7, 0x1000), objects.given(9, 0x1000)), (first, second));
        assert_eq!(objects.given(7, 0x3000), 0x3000, "nobody has told of it");
        objects.call_ends(7, nothing);
        // The other call was left.
        let mut gone = Vec::new();
        objects.call_begins(8, [0x2000], |object| gone.push(object));
        assert_eq!(gone, [first]);
        objects.call_ends(9, nothing);
        assert!(objects.end(second));
        assert_eq!(objects.given(9, 0x1000), objects.at(0x1000), "it has returned");
    }
}
