//! Compression of columns and tables: length, stored length, bytes; stored as they are where compression does not pay.

use super::varint::{Cursor, put};
use super::{Bad, MAX_COLUMN};

const LEVEL: i32 = 1;

/// Compresses.
pub(crate) struct Packer {
    compressor: Option<zstd::bulk::Compressor<'static>>,
    scratch: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> Packer {
        Packer { compressor: zstd::bulk::Compressor::new(LEVEL).ok(), scratch: Vec::new() }
    }

    pub(crate) fn pack(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        put(out, raw.len() as u64);
        self.scratch.clear();
        self.scratch.reserve(raw.len());
        // A buffer no larger than the input: compression that does not pay fails, and that is the answer.
        let packed = match &mut self.compressor {
            Some(compressor) if raw.len() >= 32 => compressor.compress_to_buffer(raw, &mut self.scratch).ok(),
            _ => None,
        };
        let stored = match packed {
            Some(len) if len < raw.len() => &self.scratch[..len],
            _ => raw,
        };
        put(out, stored.len() as u64);
        out.extend_from_slice(stored);
    }
}

/// The inverse of [`Packer`].
pub(crate) struct Unpacker {
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacker {
    pub(crate) fn new() -> Unpacker {
        Unpacker { decompressor: zstd::bulk::Decompressor::new().ok() }
    }

    /// Unpacks the next column into `out`; refuses one larger than `limit`.
    pub(crate) fn unpack(
        &mut self,
        cursor: &mut Cursor<'_>,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Bad> {
        let raw_len = cursor.get()? as usize;
        let stored_len = cursor.get()?;
        if raw_len > limit.min(MAX_COLUMN) {
            return Err(Bad::new("a column is absurdly long"));
        }
        let stored = cursor.get_bytes(stored_len)?;
        out.clear();
        if stored.len() == raw_len {
            out.extend_from_slice(stored);
            return Ok(());
        }
        let Some(decompressor) = &mut self.decompressor else {
            return Err(Bad::new("no memory for decompression"));
        };
        // The buffer grows here, not in the library: a compressed block cannot make more than it announced.
        out.reserve_exact(raw_len);
        match decompressor.decompress_to_buffer(stored, out) {
            Ok(len) if len == raw_len => Ok(()),
            _ => Err(Bad::new("a column cannot be decompressed")),
        }
    }
}
