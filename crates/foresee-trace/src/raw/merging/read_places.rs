//! The places that compact records are of, as whoever reads a thread's records knows them.
//!
//! There may be very many threads that have been at few places each. So room is made for some places at a time, when the first of them is known.

use std::cell::OnceCell;

use foresee_format::places::{PLACES, Place, Places, Table};

pub(super) type ReadPlaces = Places<Blocks>;

const BLOCK: usize = 1 << 4;

/// A block of places, once one of them is known.
type Block = OnceCell<Box<[Place; BLOCK]>>;

/// Room for places, in blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks(OnceCell<Box<[Block; PLACES / BLOCK]>>);

impl Table for Blocks {
    #[inline]
    fn place(&self, index: usize) -> &Place {
        let blocks = self.0.get_or_init(|| Box::new([const { OnceCell::new() }; PLACES / BLOCK]));
        let block = blocks[index / BLOCK % (PLACES / BLOCK)]
            .get_or_init(|| Box::new([const { Place::unknown() }; BLOCK]));
        &block[index % BLOCK]
    }
}
