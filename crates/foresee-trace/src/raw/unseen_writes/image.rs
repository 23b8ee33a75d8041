//! What the program's data was before anything was recorded.

use foresee_format::IMAGE_PIECE;
use foresee_format::digest::of_bytes;

use crate::event::Mem;

/// The most bytes that are believed to be in an image.
const MOST: u64 = 1 << 26;

/// One piece of the program's data.
pub(super) struct Image {
    start: u64,
    len: u64,
    bytes: Vec<u8>,
    /// Which of them are changed: a bit for each.
    changed: Vec<u64>,
}

impl Image {
    /// The image that a text has.
    pub(super) fn of_text(text: &[u8]) -> Option<Image> {
        let (words, _) = text.as_chunks::<8>();
        let [start, len, ..] = words else { return None };
        let (start, len) = (u64::from_le_bytes(*start), u64::from_le_bytes(*len).min(MOST));
        start.checked_add(len)?;
        let changed = vec![0; len.div_ceil(64) as usize];
        let mut bytes = vec![0; len as usize];
        for piece in text.get(16..)?.chunks_exact(8 + IMAGE_PIECE) {
            let (offset, piece) = piece.split_first_chunk::<8>()?;
            let there = bytes.get_mut(usize::try_from(u64::from_le_bytes(*offset)).ok()?..)?;
            there.iter_mut().zip(piece).for_each(|(byte, &known)| *byte = known);
        }
        Some(Image { start, len, bytes, changed })
    }

    /// From which byte of it to which this memory is, as far as it is in it.
    fn part(&self, mem: Mem) -> std::ops::Range<usize> {
        let end = mem.addr.saturating_add(mem.size.into()).saturating_sub(self.start).min(self.len);
        let start = mem.addr.saturating_sub(self.start).min(end);
        start as usize..end as usize
    }

    /// The digest of what is there, if it is in the image and was not changed since.
    pub(super) fn digest(&self, mem: Mem) -> Option<u8> {
        let part = self.part(mem);
        let is_in = mem.addr >= self.start && part.len() == mem.size as usize && part.len() <= 16;
        let is_as_it_was = |at: usize| self.changed[at / 64] >> (at % 64) & 1 == 0;
        if !is_in || !part.clone().all(is_as_it_was) {
            return None;
        }
        of_bytes(self.bytes.get(part)?)
    }

    /// This memory is changed.
    pub(super) fn changed(&mut self, mem: Mem) {
        for at in self.part(mem) {
            self.changed[at / 64] |= 1 << (at % 64);
        }
    }
}
