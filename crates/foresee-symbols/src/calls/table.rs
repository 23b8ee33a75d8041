//! The table of hooks, as the runtime reads it (`foresee_format::CALLS_MAGIC`).

use foresee_format::{HookKind, RETURNED, SavedArguments, TextForm, ValueWord};

use super::hooks::Hook;
use crate::texts::Text;
use crate::types::Scalar;

/// The length of a text.
pub(super) const LENGTH: Scalar = Scalar { size: 8, signed: false, object: false, text: None };

/// What is in the place of a result, if there is none.
pub(super) const NO_RESULT: ValueWord = ValueWord {
    register: ValueWord::NOTHING,
    size: 8,
    signed: false,
    object: false,
    stored: false,
    field: false,
    text: TextForm::None,
    offset: 0,
};

/// Which call it is, for returns that have objects the call was given.
pub(super) const CALL: ValueWord = ValueWord { register: ValueWord::CALL, ..NO_RESULT };

/// Where a value is, and how it is read.
pub(super) fn word(scalar: Scalar, register: u8, offset: u32) -> ValueWord {
    let Scalar { size, signed, object, text } = scalar;
    let text = match text {
        None => TextForm::None,
        Some(Text::Ended) => TextForm::Ended,
        Some(Text::Counted { .. }) => TextForm::Counted,
        Some(Text::Structure { .. }) => TextForm::Structure,
    };
    ValueWord { register, size: size.min(8), signed, object, stored: false, field: false, text, offset }
}

/// The same as words of the table; of a text of two words, those of its length follow.
pub(super) fn words(scalar: Scalar, register: u8, offset: u32) -> Vec<u64> {
    let mut words = vec![word(scalar, register, offset).word()];
    if let Some(Text::Structure { pointer, length }) = scalar.text {
        words.push(u64::from(pointer) | u64::from(length) << 32);
    }
    words
}

/// What a field so far in the object holds that this value is the address of.
pub(super) fn field_words(scalar: Scalar, object: ValueWord, offset: u32) -> [u64; 2] {
    let field = ValueWord { field: true, ..word(scalar, object.register, object.offset) };
    [field.word(), offset.into()]
}

/// A hook with what is recorded there.
pub(super) struct TableHook {
    pub(super) hook: Hook,
    pub(super) kind: HookKind,
    pub(super) name: String,
    pub(super) returns: bool,
    /// Which of them are recorded.
    pub(super) parameters: String,
    /// Of a return, the result is first. As words of the table.
    pub(super) values: Vec<u64>,
    pub(super) saved: SavedArguments,
    /// Nobody needs what is in vector registers there.
    pub(super) is_plain: bool,
    /// How many of the values, the last ones, are kept for the function's return.
    pub(super) kept: usize,
    /// Nothing is recorded there.
    pub(super) only_keeps: bool,
}

impl TableHook {
    /// Adds it to the table.
    pub(super) fn write(&self, table: &mut Vec<u8>) {
        let TableHook { hook, kind, name, returns, parameters, values, saved, is_plain, kept, only_keeps } =
            self;
        let detail = if *returns { u64::from(RETURNED) } else { 0 };
        let lengths = hook.len as u64
            | (hook.copied.len() as u64) << 8
            | (hook.fields.len() as u64) << 16
            | (values.len() as u64) << 24
            | detail << 32
            | (*kind as u64) << 40
            | u64::from(saved.number()) << 48
            | u64::from(*is_plain) << 56
            | (*kept as u64) << 57
            | u64::from(*only_keeps) << 60;
        let texts = parameters.len() as u64 | (name.len() as u64) << 32;
        table.extend([hook.address, lengths, texts].iter().flat_map(|word| word.to_le_bytes()));
        padded(table, &hook.copied);
        table.extend(hook.fields.iter().flat_map(|&field| (field as u64).to_le_bytes()));
        table.extend(values.iter().flat_map(|word| word.to_le_bytes()));
        padded(table, parameters.as_bytes());
        padded(table, name.as_bytes());
    }
}

fn padded(table: &mut Vec<u8>, bytes: &[u8]) {
    table.extend(bytes);
    table.resize(table.len().next_multiple_of(8), 0);
}
