//! Variable-length integers: seven bits a byte, low bits first; signed numbers zigzag.

use super::Bad;

#[inline]
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
pub(crate) fn put_str(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

#[inline]
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads what the functions above wrote, from bytes that may be anything.
///
/// An iterator rather than a slice: reading a byte moves one pointer, and a loop over four columns keeps in registers.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    rest: std::slice::Iter<'a, u8>,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes.iter() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.as_slice().is_empty()
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.as_slice().len()
    }

    #[inline]
    pub(crate) fn get(&mut self) -> Result<u64, Bad> {
        match self.rest.next() {
            Some(&byte) if byte < 0x80 => Ok(u64::from(byte)),
            Some(&byte) => self.get_more(byte),
            None => Err(cut_off()),
        }
    }

    #[inline]
    fn get_more(&mut self, first: u8) -> Result<u64, Bad> {
        let low = u64::from(first & 0x7f);
        match self.rest.next() {
            Some(&byte) if byte < 0x80 => Ok(low | u64::from(byte) << 7),
            Some(&byte) => self.get_long(low | u64::from(byte & 0x7f) << 7),
            None => Err(cut_off()),
        }
    }

    #[cold]
    fn get_long(&mut self, mut value: u64) -> Result<u64, Bad> {
        for shift in (14..70).step_by(7) {
            let &byte = self.rest.next().ok_or_else(cut_off)?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Bad::new("a number is too long"))
    }

    pub(crate) fn get_u32(&mut self) -> Result<u32, Bad> {
        u32::try_from(self.get()?).map_err(|_| Bad::new("a number is too large"))
    }

    pub(crate) fn get_bytes(&mut self, len: u64) -> Result<&'a [u8], Bad> {
        match usize::try_from(len) {
            Ok(len) if len <= self.remaining() => {
                let (bytes, rest) = self.rest.as_slice().split_at(len);
                self.rest = rest.iter();
                Ok(bytes)
            }
            _ => Err(Bad::new("a length goes past the end of its block")),
        }
    }

    pub(crate) fn get_str(&mut self) -> Result<&'a str, Bad> {
        let len = self.get()?;
        std::str::from_utf8(self.get_bytes(len)?).map_err(|_| Bad::new("a name is not UTF-8"))
    }
}

#[cold]
fn cut_off() -> Bad {
    Bad::new("a number is cut off")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(values: Vec<u64>, signed: i64) {
            let mut bytes = Vec::new();
            for &v in &values {
                put(&mut bytes, v);
            }
            let mut cursor = Cursor::new(&bytes);
            for &v in &values {
                prop_assert_eq!(cursor.get(), Ok(v));
            }
            prop_assert!(cursor.is_empty());
            prop_assert_eq!(unzigzag(zigzag(signed)), signed);
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            let mut cursor = Cursor::new(&bytes);
            while !cursor.is_empty() && cursor.get().is_ok() {}
        }
    }
}
