//! The table of hooks: where the runtime takes notice of calls, which the driver has worked out from the program's file.
//!
//! Words of 8 bytes, little-endian. A header: [`CALLS_MAGIC`], device and number of the program's file, how many hooks. Then each hook:
//!
//! ```text
//! where the jump goes that replaces instructions, as an address of the file
//! patched bytes | copied bytes << 8 | fields << 16 | values << 24 | detail of its records << 32 | kind << 40 | saved arguments << 48
//! | 1 << 56 if vector registers are nobody's there | kept arguments << 57 | 1 << 60 if nothing is recorded there
//! bytes of the names of the parameters | bytes of the function's name << 32
//! the copied instructions, then the fields, the values, the names of the parameters, the function's name
//! ```
//!
//! A hook that patches no bytes is not in the program: the one before it leads to it when its own instructions are done.
//!
//! Copied instructions and names are filled up to whole words. A field is the place among the copied bytes of a 4-byte number that is
//! relative to the instruction; it is one word. So is a value: [`ValueWord`]; texts may have another word, [`TextForm`] says which, and fields have.
//!
//! Functions of libraries are reached in other ways, which the [`HookKind`] says. Their hooks are in front of the function; one that records its return
//! calls it from there, and keeps arguments on the stack until then: [`SavedArguments`].
//!
//! A function of the program itself is not called by its hooks. If arguments are asked for at its return, the hook at its entry keeps them: the last so many of its values are not for
//! its own record, and the hooks of the function's returns, which come next in the table, have them as values at [`ValueWord::KEPT`].
//!
//! Where objects are among these, the entry is recorded as well, and both records say of which call they are: [`ValueWord::CALL`]. What was at an address when a call began may be gone when it returns, and
//! another there.

use crate::number::number;

/// The first word of the table. It changes with what the table says: a program may have another version of the runtime.
pub const CALLS_MAGIC: u64 = u64::from_le_bytes(*b"FORcall3");
/// How many words the header has.
pub const CALLS_HEADER_WORDS: usize = 4;
/// How many words a hook has before its lists.
pub const HOOK_WORDS: usize = 3;
/// How many bytes the jump has that a hook puts into the program.
pub const JUMP_LEN: usize = 5;
/// So many arguments of a call can be kept until it returns.
pub const MOST_KEPT: usize = 6;

/// How a hook is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HookKind {
    /// By a jump in the code of the function itself.
    Code = 0,
    /// By a jump in place of one of the runtime's entry points, which is the copied instruction and then a jump to an address of the file, which is its only field.
    EntryPoint = 1,
    /// By the words of the program's file through which it calls a function of another: these are the fields, as addresses of the file. The function has the hook's name.
    Import = 2,
}

impl HookKind {
    /// The kind of this number.
    pub const fn from_number(number: u8) -> Option<HookKind> {
        Some(match number {
            0 => HookKind::Code,
            1 => HookKind::EntryPoint,
            2 => HookKind::Import,
            _ => return None,
        })
    }
}

/// Which arguments of a function a hook keeps while the function runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedArguments(u8);

impl SavedArguments {
    /// The hook is that of a function that it calls.
    const CALLS: u8 = 0x80;

    /// None.
    pub const NONE: SavedArguments = SavedArguments(SavedArguments::CALLS);

    /// Those, and the one at this position, at most the sixth.
    #[must_use]
    pub const fn with(self, position: u8) -> SavedArguments {
        SavedArguments(self.0 | 1 << position)
    }

    /// From the table.
    pub const fn from_number(number: u8) -> SavedArguments {
        SavedArguments(number)
    }

    /// For the table.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Their positions.
    pub fn positions(self) -> impl DoubleEndedIterator<Item = u8> {
        (0..6).filter(move |position| self.0 >> position & 1 != 0)
    }

    /// Where the argument at this position is, in bytes above the first.
    pub const fn offset(self, position: u8) -> u32 {
        8 * (self.0 & ((1 << position) - 1)).count_ones()
    }

    /// How many words are between the first and the return address: an odd number, as stacks are aligned.
    pub const fn words(self) -> usize {
        match self.0 {
            0 => 0,
            some => (some & !SavedArguments::CALLS).count_ones() as usize | 1,
        }
    }
}

/// A register that the runtime saves when a hook is reached, by its place among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Saved {
    Rdi,
    Rsi,
    Rdx,
    Rcx,
    R8,
    R9,
    Rax,
    R10,
    R11,
}

/// How many registers there are.
pub const SAVED_REGISTERS: usize = 9;

/// How a value leads to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TextForm {
    /// It does not.
    None = 0,
    /// It is the address of its first byte; a zero byte ends it.
    Ended = 1,
    /// It is the address of its first byte; the next word is the [`ValueWord`] of its length.
    Counted = 2,
    /// It is the address of a structure: the next word says where in it the address of its first byte is, and, from bit 32 on, where its length.
    Structure = 3,
}

impl TextForm {
    /// The form of this number, of which two bits count.
    #[inline]
    pub const fn from_number(number: u8) -> TextForm {
        match number & 3 {
            0 => TextForm::None,
            1 => TextForm::Ended,
            2 => TextForm::Counted,
            _ => TextForm::Structure,
        }
    }
}

/// Where a value is when a hook is reached, and how to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueWord {
    /// The place of a register among those that are saved, or one of the constants below.
    pub register: u8,
    /// Its bytes, the lowest ones: at most 8.
    pub size: u8,
    /// Whether its highest bit is a sign.
    pub signed: bool,
    /// Whether it is the address of an object.
    pub object: bool,
    /// Whether it is in memory, at the address that is found there.
    pub stored: bool,
    /// Whether it is in an object whose address is found there: the next word says how far.
    pub field: bool,
    /// Whether it leads to a text, which is the value.
    pub text: TextForm,
    /// On the stack: how far above the return address, or above the first word that the hook has saved. Of what was kept: its place among it.
    pub offset: u32,
}

impl ValueWord {
    /// Instead of a register.
    pub const ON_STACK: u8 = 0xff;
    /// There is no value: it counts as 0.
    pub const NOTHING: u8 = 0xfe;
    /// The hook at the function's entry has kept it.
    pub const KEPT: u8 = 0xfd;
    /// Which call it is: where its return address is, which no other call has there until it is left.
    pub const CALL: u8 = 0xfc;

    /// As a word of the table.
    pub const fn word(self) -> u64 {
        self.register as u64
            | (self.size as u64) << 8
            | (self.signed as u64) << 16
            | (self.object as u64) << 17
            | (self.stored as u64) << 18
            | (self.text as u64) << 20
            | (self.field as u64) << 22
            | (self.offset as u64) << 32
    }

    /// From a word of the table.
    #[inline]
    pub const fn from_word(word: u64) -> ValueWord {
        ValueWord {
            register: word as u8,
            size: (word >> 8) as u8,
            signed: word >> 16 & 1 != 0,
            object: word >> 17 & 1 != 0,
            stored: word >> 18 & 1 != 0,
            text: TextForm::from_number((word >> 20) as u8),
            field: word >> 22 & 1 != 0,
            offset: (word >> 32) as u32,
        }
    }

    /// The value of these bits: an address as it is, or a number of properties.
    #[inline]
    pub fn value(self, bits: u64) -> u64 {
        let is_address = self.object || self.text != TextForm::None;
        if is_address { bits } else { number(bits, self.size.into(), !self.signed) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_lowest_bytes() {
        let of = |size, signed| ValueWord { size, signed, ..ValueWord::from_word(0) };
        assert_eq!(of(4, true).value(0x1_ffff_fffe), u64::MAX - 1);
        assert_eq!(of(4, false).value(0x1_ffff_fffe), 0xffff_fffe);
        assert_eq!(of(1, false).value(0xab01), 1);
        assert_eq!(of(8, false).value(u64::MAX), i64::MAX as u64, "no number of a property is larger");
        assert_eq!(of(8, true).value(u64::MAX), u64::MAX);
        assert_eq!(ValueWord { object: true, ..of(8, false) }.value(u64::MAX), u64::MAX, "an address");
    }

    #[test]
    fn saved_arguments_are_words_below_the_return_address() {
        assert_eq!(SavedArguments::default().words(), 0);
        assert_eq!(SavedArguments::NONE.words(), 1);
        let two = SavedArguments::NONE.with(4).with(1);
        assert_eq!((two.words(), two.offset(1), two.offset(4)), (3, 0, 8));
        assert!(two.positions().eq([1, 4]));
        assert_eq!(SavedArguments::from_number(two.number()), two);
    }

    #[test]
    fn words_come_back_as_they_were() {
        let register = ValueWord {
            register: Saved::R11 as u8,
            size: 2,
            signed: true,
            object: false,
            stored: false,
            field: false,
            text: TextForm::Structure,
            offset: 0,
        };
        let stack = ValueWord {
            register: ValueWord::ON_STACK,
            size: 8,
            signed: false,
            object: true,
            stored: true,
            field: true,
            text: TextForm::None,
            offset: 24,
        };
        for value in [stack, register] {
            assert_eq!(ValueWord::from_word(value.word()), value);
        }
    }
}
