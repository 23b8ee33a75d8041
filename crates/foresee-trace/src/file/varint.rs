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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(crate) fn get(&mut self) -> Result<u64, Bad> {
        match *self.rest {
            [byte, ref rest @ ..] if byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(byte))
            }
            [low, high, ref rest @ ..] if high < 0x80 => {
                self.rest = rest;
                Ok(u64::from(low & 0x7f) | u64::from(high) << 7)
            }
            _ => self.get_long(),
        }
    }

    #[cold]
    fn get_long(&mut self) -> Result<u64, Bad> {
        let mut value = 0;
        for (i, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.rest = &self.rest[i + 1..];
                return Ok(value);
            }
        }
        Err(Bad::new("a number is cut off or too long"))
    }

    pub(crate) fn get_u32(&mut self) -> Result<u32, Bad> {
        u32::try_from(self.get()?).map_err(|_| Bad::new("a number is too large"))
    }

    pub(crate) fn get_bytes(&mut self, len: u64) -> Result<&'a [u8], Bad> {
        match usize::try_from(len) {
            Ok(len) if len <= self.rest.len() => {
                let (bytes, rest) = self.rest.split_at(len);
                self.rest = rest;
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
