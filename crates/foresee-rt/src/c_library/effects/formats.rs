//! The arguments of `printf` and `scanf`: what the format says of them.
//!
//! A format is read as the C library reads it; each conversion takes its arguments from a copy of the `va_list`. Where a format has
//! numbered arguments (`%2$s`), or a conversion that is not known here, the call counts as one that accesses what is not seen.

use foresee_format::Unseen;

use super::table::*;
use crate::recorder::accesses::unseen;

/// A `va_list` of the System V ABI.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Arguments {
    general: u32,
    vector: u32,
    on_stack: *const u64,
    saved: *const u8,
}

/// How a `va_list` is passed.
pub(super) type List = *const Arguments;

impl Arguments {
    /// The next argument that is a number or a pointer.
    fn word(&mut self) -> u64 {
        if self.general < 48 {
            // SAFETY: `saved` has 48 bytes of such arguments, of which so many are taken.
            let word = unsafe { self.saved.add(self.general as usize).cast::<u64>().read() };
            self.general += 8;
            return word;
        }
        // SAFETY: the program passes as many arguments as its format says.
        let word = unsafe { self.on_stack.read() };
        self.on_stack = self.on_stack.wrapping_add(1);
        word
    }

    fn skip_float(&mut self) {
        if self.vector < 176 {
            self.vector += 16;
        } else {
            self.on_stack = self.on_stack.wrapping_add(1);
        }
    }

    fn skip_long_double(&mut self) {
        self.on_stack = (((self.on_stack as usize + 15) & !15) + 16) as *const u64;
    }
}

/// One conversion of a format.
struct Conversion {
    letter: u8,
    /// `hh`, `h`, nothing, `l`, `L`: -2 to 2. All that mean eight bytes are `l`, but for `L` with floating-point numbers.
    length: i8,
    width: Option<usize>,
    precision: Option<usize>,
    /// `*` in `scanf`.
    is_dropped: bool,
    /// `m` in `scanf`.
    allocates: bool,
    /// Whether nothing but white space stands before it and behind the one before.
    is_next: bool,
}

/// The conversions of a format. In `printf`, `*` takes an argument.
struct Conversions {
    rest: Text,
}

impl Conversions {
    fn peek(&self) -> u8 {
        // SAFETY: the format is a text, and nothing behind its zero byte is looked at: `next` stops there.
        unsafe { *self.rest as u8 }
    }

    fn take(&mut self) -> u8 {
        let byte = self.peek();
        if byte != 0 {
            self.rest = self.rest.wrapping_add(1);
        }
        byte
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == byte;
        if is_it {
            self.take();
        }
        is_it
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while self.peek().is_ascii_digit() {
            let digit = usize::from(self.take() - b'0');
            number = Some(number.unwrap_or(0_usize).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    fn number_or(&mut self, list: &mut Arguments) -> Option<usize> {
        if self.takes(b'*') {
            return usize::try_from(list.word() as i32).ok();
        }
        self.number()
    }

    fn skip_to_conversion(&mut self) -> Option<()> {
        loop {
            match self.take() {
                0 => return None,
                b'%' if !self.takes(b'%') => return Some(()),
                _ => {}
            }
        }
    }

    fn length(&mut self) -> i8 {
        let letter = self.peek();
        if !b"hlLqjzZt".contains(&letter) {
            return 0;
        }
        self.take();
        match letter {
            b'h' if self.takes(b'h') => -2,
            b'h' => -1,
            b'L' => 2,
            b'l' => {
                self.takes(b'l');
                1
            }
            _ => 1,
        }
    }

    fn next_printed(&mut self, list: &mut Arguments) -> Option<Conversion> {
        self.skip_to_conversion()?;
        while b"-+ #0'I".contains(&self.peek()) {
            self.take();
        }
        let width = self.number_or(list);
        let precision = if self.takes(b'.') {
            // Nothing behind the point is zero; a negative argument is as if there were none.
            let is_given = self.peek() == b'*' || self.peek().is_ascii_digit();
            self.number_or(list).or((!is_given).then_some(0))
        } else {
            None
        };
        let length = self.length();
        Some(Conversion {
            letter: self.take(),
            length,
            width,
            precision,
            is_dropped: false,
            allocates: false,
            is_next: true,
        })
    }

    fn next_scanned(&mut self) -> Option<Conversion> {
        while self.peek().is_ascii_whitespace() {
            self.take();
        }
        let is_next = self.peek() == b'%';
        self.skip_to_conversion()?;
        let is_dropped = self.takes(b'*');
        while b"'I".contains(&self.peek()) {
            self.take();
        }
        let width = self.number();
        let allocates = self.takes(b'm');
        let length = self.length();
        let letter = self.take();
        if letter == b'[' {
            self.takes(b'^');
            self.takes(b']');
            while !matches!(self.take(), b']' | 0) {}
        }
        Some(Conversion { letter, length, width, precision: None, is_dropped, allocates, is_next })
    }
}

/// What a function like `printf` reads: the format, and the texts among the arguments.
pub(super) struct Printed(pub(super) Text, pub(super) List);

impl Printed {
    pub(super) fn record(self, pc: u64) {
        let Printed(format, list) = self;
        if format.is_null() {
            // `warn` takes none.
            return;
        }
        reads_text(format).record(pc);
        // SAFETY: the program passes a `va_list`, of which this is a copy.
        let mut list = unsafe { *list };
        let mut conversions = Conversions { rest: format };
        while let Some(conversion) = conversions.next_printed(&mut list) {
            match conversion.letter {
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' => _ = list.word(),
                b'e' | b'f' | b'g' | b'a' | b'E' | b'F' | b'G' | b'A' if conversion.length == 2 => {
                    list.skip_long_double();
                }
                b'e' | b'f' | b'g' | b'a' | b'E' | b'F' | b'G' | b'A' => list.skip_float(),
                b's' if conversion.length == 0 => {
                    let text = list.word() as Text;
                    reads(text, size_within(text, conversion.precision.unwrap_or(usize::MAX))).record(pc);
                }
                // A precision counts bytes of what is printed: how many characters that takes is not known.
                b's' | b'S' if conversion.precision.is_none() => reads_wide_text(list.word()).record(pc),
                b's' | b'S' => {
                    list.word();
                    unseen(Unseen::Format, pc);
                }
                b'n' => writes(list.word() as Text, integer_size(conversion.length)).record(pc),
                b'm' => {}
                _ => return unseen(Unseen::Format, pc),
            }
        }
    }
}

/// What a function like `scanf` wrote, which has assigned so many values.
pub(super) struct Scanned(pub(super) Text, pub(super) List, pub(super) i32);

impl Scanned {
    pub(super) fn record(self, pc: u64) {
        let Scanned(format, list, assigned) = self;
        // SAFETY: the program passes a `va_list`. The C library works on a copy of its own, so this is what it was before the call.
        let mut list = unsafe { *list };
        let mut conversions = Conversions { rest: format };
        let mut left = assigned;
        while let Some(conversion) = conversions.next_scanned() {
            // A `%n` is done as soon as all before it was. Whether text was there, and what is dropped, the result does not say.
            if left <= 0 && (conversion.letter != b'n' || !conversion.is_next) {
                let mut rest =
                    std::iter::once(conversion).chain(std::iter::from_fn(|| conversions.next_scanned()));
                if rest.any(|conversion| conversion.letter == b'n') {
                    unseen(Unseen::Format, pc);
                }
                return;
            }
            if conversion.is_dropped {
                continue;
            }
            let to = list.word() as Text;
            match conversion.letter {
                b'n' => writes(to, integer_size(conversion.length)).record(pc),
                _ if conversion.allocates => writes(to, 8).record(pc),
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
                    writes(to, integer_size(conversion.length)).record(pc);
                }
                b'p' => writes(to, 8).record(pc),
                b'e' | b'f' | b'g' | b'a' | b'E' | b'F' | b'G' | b'A' => {
                    let size = [4, 8, 10][usize::try_from(conversion.length).unwrap_or(0).min(2)];
                    writes(to, size).record(pc);
                }
                b'c' if conversion.length == 0 => writes(to, conversion.width.unwrap_or(1)).record(pc),
                b's' | b'[' if conversion.length == 0 => writes_text(to, true).record(pc),
                b'c' | b'C' => writes(to, WIDE * conversion.width.unwrap_or(1)).record(pc),
                b's' | b'S' | b'[' => writes(to, size_of_wide_text(to.cast())).record(pc),
                _ => return unseen(Unseen::Format, pc),
            }
            left -= i32::from(conversion.letter != b'n');
        }
    }
}

/// The size of a wide character.
const WIDE: usize = size_of::<libc::wchar_t>();

fn reads_wide_text(text: u64) -> Access {
    reads(text as *const libc::wchar_t, size_of_wide_text(text as *const libc::wchar_t))
}

/// The size of a text of wide characters, with the zero at its end.
fn size_of_wide_text(text: *const libc::wchar_t) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: nothing behind the zero is looked at: the real function reads or has written the same.
    WIDE * (1 + (0..).take_while(|&at| unsafe { *text.add(at) } != 0).count())
}

fn integer_size(length: i8) -> usize {
    match length {
        -2 => 1,
        -1 => 2,
        0 => 4,
        _ => 8,
    }
}
