//! Near records: how far an access, a call or an atomic is from what the same chunk has said before.
//!
//! Programs do most things near to where they did the last: most accesses need one word instead of three, most atomics two
//! instead of five. Since version 9 most are compact ([`places`](crate::places)); near are only reads with a digest of what they saw, and atomics.

use core::cell::Cell;

use crate::record::Tag;

/// The key of a near record after a record with this key.
#[inline(always)]
pub const fn near_key(last: u64) -> u64 {
    last + (last & 1)
}

/// `to - from`, if it is a signed number of so many bits.
#[inline(always)]
const fn near<const BITS: u32>(to: u64, from: u64) -> Option<u64> {
    let distance = to.wrapping_sub(from);
    let half = 1 << (BITS - 1);
    if distance.wrapping_add(half) < 2 * half { Some(distance & (2 * half - 1)) } else { None }
}

#[inline(always)]
const fn far<const BITS: u32>(from: u64, distance: u64) -> u64 {
    let unused = 64 - BITS;
    from.wrapping_add((((distance << unused) as i64) >> unused) as u64)
}

const PC_BITS: u32 = 20;
const ADDR_BITS: u32 = 31;
const CALL_BITS: u32 = 28;
/// The same for a near read with a digest, which takes the room.
const SEEN_PC_BITS: u32 = 17;
const SEEN_ADDR_BITS: u32 = 26;
/// Where its digest is, and where its place.
const SEEN_DIGEST: u32 = 11;
const SEEN_PLACE: u32 = SEEN_DIGEST + 8;
/// No program has anything near to this address.
const NOWHERE: u64 = 1 << 63;

/// How many bits of a near atomic are for each of its two values.
const VALUE_BITS: u32 = 5;

/// What near accesses and atomics are near to: the last of either in the chunk, and for addresses the last one in the same region
/// of memory, as programs go to and fro between these.
#[derive(Clone, Debug)]
pub struct NearAccess {
    pc: Cell<u64>,
    addrs: [Cell<u64>; 4],
}

impl NearAccess {
    /// Nothing is near at the beginning of a chunk.
    pub const fn nowhere() -> NearAccess {
        NearAccess { pc: Cell::new(NOWHERE), addrs: [const { Cell::new(NOWHERE) }; 4] }
    }

    /// A new chunk begins.
    #[inline]
    pub fn forget(&self) {
        self.pc.set(NOWHERE);
        self.addrs.iter().for_each(|addr| addr.set(NOWHERE));
    }

    /// The program with its statics and heap (2, if it can be anywhere), what it has mapped (3: stacks of threads, their heaps), or the stack of its
    /// first thread (0), which is in the last 2^34 bytes of a process.
    #[inline(always)]
    const fn region(addr: u64) -> usize {
        (addr.wrapping_add(1 << 34) >> 45) as usize % 4
    }

    /// Where accesses were last.
    #[inline(always)]
    pub fn pc(&self) -> u64 {
        self.pc.get()
    }

    /// An access or atomic has been recorded.
    #[inline(always)]
    pub fn set(&self, pc: u64, addr: u64) {
        self.pc.set(pc);
        self.addrs[Self::region(addr)].set(addr);
    }

    /// Region, place and address in 53 bits, if they are near.
    #[inline(always)]
    fn distance(&self, pc: u64, addr: u64) -> Option<u64> {
        let region = Self::region(addr);
        match (near::<PC_BITS>(pc, self.pc()), near::<ADDR_BITS>(addr, self.addrs[region].get())) {
            (Some(pc), Some(addr)) => Some(region as u64 | pc << 2 | addr << (2 + PC_BITS)),
            _ => None,
        }
    }

    fn at(&self, distance: u64) -> (u64, u64) {
        let last = self.addrs[distance as usize % 4].get();
        (far::<PC_BITS>(self.pc(), distance >> 2), far::<ADDR_BITS>(last, distance >> (2 + PC_BITS)))
    }

    /// The record of a near access of `size` bytes, if it is one, as it was written before version 9.
    #[inline(always)]
    pub fn encode(&self, tag: Tag, pc: u64, addr: u64, size: u8) -> Option<u64> {
        match self.distance(pc, addr) {
            Some(distance) if size.is_power_of_two() => {
                Some(tag as u64 | (size.trailing_zeros() as u64) << 8 | distance << 11)
            }
            _ => None,
        }
    }

    /// Program counter, address and size of a near access.
    pub fn decode(&self, word: u64) -> (u64, u64, u8) {
        let (pc, addr) = self.at(word >> 11);
        (pc, addr, 1 << (word >> 8 & 7))
    }

    /// The record of a near read of `size` bytes that has a digest of what it saw, if it is one: all but the digest, which
    /// [`with_digest`] adds.
    #[inline(always)]
    pub fn encode_seen(&self, pc: u64, addr: u64, size: u8) -> Option<u64> {
        let region = Self::region(addr);
        let distances =
            (near::<SEEN_PC_BITS>(pc, self.pc()), near::<SEEN_ADDR_BITS>(addr, self.addrs[region].get()));
        match distances {
            (Some(pc), Some(addr)) if size.is_power_of_two() => {
                let place = region as u64 | pc << 2 | addr << (2 + SEEN_PC_BITS);
                Some(Tag::NearReadSeen as u64 | (size.trailing_zeros() as u64) << 8 | place << SEEN_PLACE)
            }
            _ => None,
        }
    }

    /// Program counter, address, size and digest of a near read that has one.
    pub fn decode_seen(&self, word: u64) -> (u64, u64, u8, u8) {
        let place = word >> SEEN_PLACE;
        let last = self.addrs[place as usize % 4].get();
        let pc = far::<SEEN_PC_BITS>(self.pc(), place >> 2);
        let addr = far::<SEEN_ADDR_BITS>(last, place >> (2 + SEEN_PC_BITS));
        (pc, addr, 1 << (word >> 8 & 7), (word >> SEEN_DIGEST) as u8)
    }

    /// The second word of a near atomic, if it is one: one that loads or stores has its value twice.
    #[inline(always)]
    pub fn atomic(&self, pc: u64, addr: u64, values: [u64; 2]) -> Option<u64> {
        match self.distance(pc, addr) {
            Some(distance) if (values[0] | values[1]) >> VALUE_BITS == 0 => {
                Some(values[0] | values[1] << VALUE_BITS | distance << 11)
            }
            _ => None,
        }
    }

    /// Program counter, address and values of a near atomic.
    pub fn decode_atomic(&self, word: u64) -> [u64; 4] {
        let (pc, addr) = self.at(word >> 11);
        let value = |word: u64| word & ((1 << VALUE_BITS) - 1);
        [pc, addr, value(word), value(word >> VALUE_BITS)]
    }
}

/// A near read that has a digest, with its digest.
#[inline(always)]
pub const fn with_digest(word: u64, digest: u8) -> u64 {
    word | (digest as u64) << SEEN_DIGEST
}

/// The record of a call whose place is near to `pc`, the last access, and whose function is near to its place, as it was written before version 9.
#[inline(always)]
pub const fn near_enter(pc: u64, call: u64, callee: u64) -> Option<u64> {
    match (near::<CALL_BITS>(call, pc), near::<CALL_BITS>(callee, call)) {
        (Some(at), Some(callee)) => Some(Tag::NearEnter as u64 | at << 8 | callee << (8 + CALL_BITS)),
        _ => None,
    }
}

/// The place and the function of a near call.
pub const fn near_entered(pc: u64, word: u64) -> (u64, u64) {
    let call = far::<CALL_BITS>(pc, word >> 8);
    (call, far::<CALL_BITS>(call, word >> (8 + CALL_BITS)))
}
