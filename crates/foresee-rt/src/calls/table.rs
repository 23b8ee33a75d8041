//! Reading the table of hooks.

use std::ffi::CStr;

use foresee_format::{
    CALLS_HEADER_WORDS, CALLS_MAGIC, HOOK_WORDS, HookKind, JUMP_LEN, MOST_KEPT, MOST_SHORT, RETURNED,
    SavedArguments, TextForm, ValueWord,
};

use crate::recorder::code_filter::{map, stat};

/// A text in words, the last of which is filled up with zeroes.
#[derive(Clone, Copy)]
pub(super) struct PaddedText {
    pub(super) words: &'static [u64],
    /// In bytes.
    pub(super) len: usize,
}

impl PaddedText {
    /// The text itself.
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).take(self.len)
    }
}

/// A hook as the table has it, which stays mapped.
pub(super) struct Hook {
    /// Where the program is changed, as its file says.
    pub(super) address: u64,
    /// How many bytes are replaced; none if the hook before it leads here.
    pub(super) len: usize,
    pub(super) kind: HookKind,
    pub(super) copied: &'static [u8],
    /// Where these are relative to themselves; of functions of libraries, what the kind says.
    pub(super) fields: &'static [u64],
    pub(super) values: &'static [u64],
    pub(super) parameters: PaddedText,
    pub(super) name: PaddedText,
    /// Of its records.
    pub(super) detail: u8,
    pub(super) saved: SavedArguments,
    /// Nobody needs what is in vector registers when it is reached.
    pub(super) is_plain: bool,
    /// Arguments that are kept until the function returns.
    pub(super) kept: &'static [u64],
    /// The hook that has kept what is recorded here.
    pub(super) entry: Option<usize>,
    /// Nothing is recorded where it is reached.
    pub(super) only_keeps: bool,
    /// Its values, if a call can be one record.
    pub(super) short: Option<ShortValues>,
}

/// The values of a hook whose calls are [`ShortCall`](foresee_format::ShortCall)s: numbers and objects.
pub(super) struct ShortValues {
    pub(super) count: usize,
    /// The first so many count.
    pub(super) values: [ValueWord; MOST_SHORT],
    /// Which are objects: a bit for each.
    pub(super) objects: u8,
}

impl ShortValues {
    /// `None` if there are too many, or others.
    fn of(words: &[u64]) -> Option<ShortValues> {
        let mut short = ShortValues {
            count: words.len(),
            values: [const { ValueWord::from_word(0) }; MOST_SHORT],
            objects: 0,
        };
        for (at, &word) in words.iter().enumerate() {
            let value = ValueWord::from_word(word);
            if value.field || value.text != TextForm::None {
                return None;
            }
            *short.values.get_mut(at)? = value;
            short.objects |= u8::from(value.object) << at;
        }
        Some(short)
    }
}

impl Hook {
    pub(super) fn is_return(&self) -> bool {
        self.detail == RETURNED
    }

    /// Whether it has no place of its own: the one before it leads here.
    pub(super) fn follows(&self) -> bool {
        self.kind == HookKind::Code && self.len == 0
    }
}

/// The hooks of the table in this file: `None` if they are another program's, `Some(None)` if they make no sense.
pub(super) fn read(path: &CStr) -> Option<Option<Box<[Hook]>>> {
    let Some((words, count)) = map(path) else { return Some(None) };
    // SAFETY: so many words are mapped at this address, and never unmapped.
    let words: &'static [u64] = unsafe { std::slice::from_raw_parts(words, count as usize) };
    let Some(&[magic, device, file, hooks]) = words.first_chunk::<CALLS_HEADER_WORDS>() else {
        return Some(None);
    };
    if magic != CALLS_MAGIC {
        return Some(None);
    }
    if stat(c"/proc/self/exe") != Some((device, file)) {
        return None;
    }
    let mut rest = Rest(&words[CALLS_HEADER_WORDS..]);
    let hooks: Option<Box<[Hook]>> = (0..hooks).map(|_| rest.hook()).collect();
    Some(hooks.map(joined))
}

/// The hooks of returns with those of entries that keep arguments for them.
fn joined(mut hooks: Box<[Hook]>) -> Box<[Hook]> {
    let mut entry = None;
    for (number, hook) in hooks.iter_mut().enumerate() {
        if !hook.kept.is_empty() {
            entry = Some(number);
        }
        let is_kept = |word: &u64| ValueWord::from_word(*word).register == ValueWord::KEPT;
        hook.entry = entry.filter(|_| hook.is_return() && hook.values.iter().any(is_kept));
    }
    hooks
}

/// What of the table is not read yet.
struct Rest(&'static [u64]);

impl Rest {
    fn hook(&mut self) -> Option<Hook> {
        let &[address, lengths, texts] = self.words(HOOK_WORDS)?.first_chunk::<HOOK_WORDS>()?;
        let byte = |shift: u32| usize::from((lengths >> shift) as u8);
        let copied = self.bytes(byte(8))?;
        let fields = self.words(byte(16))?;
        let values = self.words(byte(24))?;
        let kept = (lengths >> 57 & 7) as usize;
        let (values, kept) = values.split_at(values.len().checked_sub(kept)?);
        let parameters = self.text(texts as u32 as usize)?;
        let name = self.text((texts >> 32) as usize)?;
        let kind = HookKind::from_number((lengths >> 40) as u8)?;
        let makes_sense = match kind {
            HookKind::Code => {
                let is_within = |field: &u64| *field + 4 <= copied.len() as u64;
                (byte(0) >= JUMP_LEN || byte(0) == 0) && fields.iter().all(is_within)
            }
            HookKind::EntryPoint => byte(0) >= JUMP_LEN && fields.len() == 1,
            HookKind::Import => byte(0) == 0 && copied.is_empty() && !fields.is_empty(),
        };
        makes_sense.then_some(Hook {
            address,
            len: byte(0),
            kind,
            copied,
            fields,
            values,
            parameters,
            name,
            detail: (lengths >> 32) as u8,
            saved: SavedArguments::from_number((lengths >> 48) as u8),
            is_plain: lengths >> 56 & 1 != 0,
            kept: (kept.len() <= MOST_KEPT).then_some(kept)?,
            entry: None,
            only_keeps: lengths >> 60 & 1 != 0,
            short: ShortValues::of(values),
        })
    }

    fn words(&mut self, count: usize) -> Option<&'static [u64]> {
        let (words, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(words)
    }

    fn text(&mut self, len: usize) -> Option<PaddedText> {
        Some(PaddedText { words: self.words(len.div_ceil(8))?, len })
    }

    fn bytes(&mut self, count: usize) -> Option<&'static [u8]> {
        let words = self.words(count.div_ceil(8))?;
        // SAFETY: these words have at least so many bytes.
        Some(unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), count) })
    }
}
