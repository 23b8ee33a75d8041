//! Which types are texts, and how they are passed.
//!
//! A C string is the address of bytes that a zero byte ends. Rust's texts say how long they are: a `&str` is two words, a `String` is a structure in memory, both in an order that the compiler
//! chooses and debug information tells.

#![expect(non_upper_case_globals, reason = "the names of the standard")]

use gimli::{
    DW_AT_byte_size, DW_AT_data_member_location, DW_AT_name, DW_AT_type, DW_TAG_base_type, DW_TAG_member,
    DW_TAG_pointer_type, DW_TAG_structure_type,
};

use crate::debug_info::{Debug, Die};

/// How a text is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// As the address of its first byte; a zero byte ends it.
    Ended,
    /// As two words: from these bytes on, the address of its first byte and its length.
    Counted { pointer: u8, length: u8 },
    /// In a structure in memory, in which these words are there.
    Structure { pointer: u32, length: u32 },
}

/// Types that are the address of a text and its length.
const COUNTED: [&str; 4] =
    ["&str", "alloc::boxed::Box<str, alloc::alloc::Global>", "&std::path::Path", "&std::ffi::os_str::OsStr"];
/// Rust's text that can grow, its only member, and what type that has.
const STRING: &str = "String";
const BYTES: (&str, &str) = ("vec", "Vec<u8, alloc::alloc::Global>");
/// So deep are pointers in Rust's own structures.
const DEPTH: usize = 8;
/// Bytes of a word.
const WORD: u64 = 8;

/// The text that a structure is.
pub(crate) fn own(debug: &Debug<'_, '_>, of: Die) -> Option<Text> {
    let name = debug.text(of, DW_AT_name)?;
    if COUNTED.contains(&&*name) {
        let (pointer, _) = member(debug, of, "data_ptr")?;
        let (length, counts) = member(debug, of, "length")?;
        let is_counted = is_word(debug, counts);
        return is_counted.then_some(Text::Counted {
            pointer: u8::try_from(pointer).ok()?,
            length: u8::try_from(length).ok()?,
        });
    }
    string(debug, of, &name)
}

/// The text that a shared reference leads to.
pub(crate) fn reference(debug: &Debug<'_, '_>, reference: Die, to: Die) -> Option<Text> {
    let name = debug.text(reference, DW_AT_name)?;
    let is_shared = name.starts_with('&') && !name.starts_with("&mut ");
    let to_name = debug.text(to, DW_AT_name).filter(|_| is_shared)?;
    string(debug, to, &to_name)
}

fn string(debug: &Debug<'_, '_>, of: Die, name: &str) -> Option<Text> {
    let (bytes, vec) = member(debug, of, BYTES.0).filter(|_| name == STRING)?;
    if members(debug, of).len() != 1 || debug.text(vec, DW_AT_name)? != BYTES.1 {
        return None;
    }
    let (length, counts) = member(debug, vec, "len")?;
    let (buffer, storage) = member(debug, vec, "buf")?;
    let mut pointers = Vec::new();
    find_pointers(debug, storage, bytes + buffer, DEPTH, &mut pointers);
    let [pointer] = pointers[..] else { return None };
    let place = |at: u64| u32::try_from(at).ok();
    is_word(debug, counts)
        .then_some(Text::Structure { pointer: place(pointer)?, length: place(bytes + length)? })
}

/// Where in a structure there are pointers.
fn find_pointers(debug: &Debug<'_, '_>, of: Die, at: u64, left: usize, found: &mut Vec<u64>) {
    match debug.entry(of).map(|entry| entry.tag()) {
        Some(DW_TAG_pointer_type) => found.push(at),
        Some(DW_TAG_structure_type) if left > 0 => {
            for (offset, of, _) in members(debug, of) {
                find_pointers(debug, of, at + offset, left - 1, found);
            }
        }
        _ => {}
    }
}

fn is_word(debug: &Debug<'_, '_>, of: Die) -> bool {
    debug.entry(of).is_some_and(|entry| {
        let size = entry.attr_value(DW_AT_byte_size).and_then(|size| size.udata_value());
        entry.tag() == DW_TAG_base_type && size == Some(WORD)
    })
}

/// Where a member of a structure is, and its type.
fn member(debug: &Debug<'_, '_>, of: Die, name: &str) -> Option<(u64, Die)> {
    let all = members(debug, of);
    all.into_iter().find(|(.., member)| member == name).map(|(at, of, _)| (at, of))
}

/// The members of a structure: where each is, its type and its name.
fn members(debug: &Debug<'_, '_>, of: Die) -> Vec<(u64, Die, String)> {
    let read = |member: Die| {
        let entry = debug.entry(member).filter(|entry| entry.tag() == DW_TAG_member)?;
        let at = entry.attr_value(DW_AT_data_member_location)?.udata_value()?;
        Some((at, debug.follow(member, DW_AT_type)?, debug.text(member, DW_AT_name)?))
    };
    debug.children(of).into_iter().filter_map(read).collect()
}
