//! Texts and memory: `string.h`, `strings.h`. The most frequent functions are in `strings` and `copies`.

use libc::{c_char, c_int, c_void, size_t, ssize_t};

use super::table::*;
use crate::real_functions::{Real, call_real};

/// How many bytes decide the comparison of two texts in which case makes no difference.
fn compared(a: Text, b: Text, most: usize) -> usize {
    // SAFETY: bytes are read up to the first difference or zero byte, no more than `most`: the real function needs them, too.
    let bytes =
        |i| unsafe { ((*a.add(i) as u8).to_ascii_lowercase(), (*b.add(i) as u8).to_ascii_lowercase()) };
    (0..most).find(|&i| matches!(bytes(i), (a, b) if a != b || a == 0)).map_or(most, |i| i + 1)
}

/// How many bytes of a text a search looked at: those up to what it found, or all.
fn searched(text: Text, found: *const c_char, wanted: usize) -> usize {
    if found.is_null() { size_of_text(text) } else { offset(found, text) + wanted }
}

/// The token that begins at a text: how many bytes are looked at, and where its end is overwritten, if it is.
struct Token {
    looked_at: usize,
    overwritten: Text,
}

impl Token {
    /// `skips` says whether separators before the token belong to none.
    fn of(text: Text, separators: Text, skips: bool) -> Token {
        if text.is_null() {
            return Token { looked_at: 0, overwritten: text };
        }
        let separators = size_of_text(separators).checked_sub(1).map_or(&[][..], |size| {
            // SAFETY: these are the bytes of a text of the program's, for the time of this call.
            unsafe { std::slice::from_raw_parts(separators, size) }
        });
        // SAFETY: no byte behind the text's zero byte is read.
        let byte = |i: usize| unsafe { *text.add(i) };
        let is_separator = |i: &usize| separators.contains(&byte(*i));
        let begin = if skips { (0..).find(|i| !is_separator(i)).unwrap_or(0) } else { 0 };
        let end = (begin..).find(|i| byte(*i) == 0 || is_separator(i)).unwrap_or(begin);
        let overwritten = if byte(end) == 0 { std::ptr::null() } else { text.wrapping_add(end) };
        Token { looked_at: end + 1, overwritten }
    }
}

/// The pointer there, or null.
fn pointer_at(at: *const *mut c_char) -> Text {
    // SAFETY: the program passes the address of a pointer, which the real function reads as well.
    if at.is_null() { std::ptr::null() } else { unsafe { *at } }
}

fn either(text: Text, otherwise: *const *mut c_char) -> Text {
    if text.is_null() { pointer_at(otherwise) } else { text }
}

effects! {
    strnlen(text: Text, most: size_t) -> size_t,
        before [reads(text, size_within(text, most))], after |_| [];
    stpcpy(to: *mut c_char, from: Text) -> *mut c_char,
        before [reads_text(from)], after |end| [writes(to, offset(end, to) + 1)];
    stpncpy(to: *mut c_char, from: Text, size: size_t) -> *mut c_char,
        before [reads(from, size_within(from, size))], after |_| [writes(to, size)];
    strcasecmp(a: Text, b: Text) -> c_int,
        before [reads(a, compared(a, b, usize::MAX)), reads(b, compared(a, b, usize::MAX))], after |_| [];
    strncasecmp(a: Text, b: Text, most: size_t) -> c_int,
        before [reads(a, compared(a, b, most)), reads(b, compared(a, b, most))], after |_| [];
    strcoll(a: Text, b: Text) -> c_int, before [reads_text(a), reads_text(b)], after |_| [];
    strverscmp(a: Text, b: Text) -> c_int, before [reads_text(a), reads_text(b)], after |_| [];
    strxfrm(to: *mut c_char, from: Text, size: size_t) -> size_t,
        before [reads_text(from)], after |len| [writes(to, if len < size { len + 1 } else { size })];
    strcasestr(text: Text, wanted: Text) -> *mut c_char,
        before [reads_text(wanted)], after |found| [reads(text, searched(text, found, size_of_text(wanted) - 1))];
    index(text: Text, byte: c_int) -> *mut c_char,
        before [], after |found| [reads(text, searched(text, found, 1))];
    rindex(text: Text, byte: c_int) -> *mut c_char, before [reads_text(text)], after |_| [];
    strchrnul(text: Text, byte: c_int) -> *mut c_char,
        before [], after |found| [reads(text, offset(found, text) + 1)];
    strspn(text: Text, among: Text) -> size_t,
        before [reads_text(among)], after |len| [reads(text, len + 1)];
    strcspn(text: Text, among: Text) -> size_t,
        before [reads_text(among)], after |len| [reads(text, len + 1)];
    strpbrk(text: Text, among: Text) -> *mut c_char,
        before [reads_text(among)], after |found| [reads(text, searched(text, found, 1))];
    strndup(text: Text, most: size_t) -> *mut c_char,
        before [reads(text, size_within(text, most))], after |new| [writes_text(new, true)];
    strtok_r(text: *mut c_char, separators: Text, rest: *mut *mut c_char) -> *mut c_char,
        before [
            reads_text(separators),
            reads(rest, if text.is_null() { 8 } else { 0 }),
            reads(either(text, rest), Token::of(either(text, rest), separators, true).looked_at),
            writes(Token::of(either(text, rest), separators, true).overwritten, 1)
        ],
        after |_| [writes_object(rest, true)];
    strsep(text: *mut *mut c_char, separators: Text) -> *mut c_char,
        before [
            reads_text(separators),
            reads_object(text),
            reads(pointer_at(text), Token::of(pointer_at(text), separators, false).looked_at),
            writes(Token::of(pointer_at(text), separators, false).overwritten, 1)
        ],
        after |token| [writes_object(text, !token.is_null())];
    strerror_r(error: c_int, to: *mut c_char, size: size_t) -> *mut c_char,
        before [], after |text| [writes_text(text, std::ptr::eq(text, to))];
    __xpg_strerror_r(error: c_int, to: *mut c_char, size: size_t) -> c_int,
        before [], after |failed| [writes_text(to, failed == 0)];
    memrchr(bytes: Bytes, byte: c_int, size: size_t) -> *mut c_void,
        before [], after |found| [reads(
            if found.is_null() { bytes } else { found },
            if found.is_null() { size } else { size - offset(found, bytes) }
        )];
    rawmemchr(bytes: Bytes, byte: c_int) -> *mut c_void,
        before [], after |found| [reads(bytes, offset(found, bytes) + 1)];
    memmem(bytes: Bytes, size: size_t, wanted: Bytes, len: size_t) -> *mut c_void,
        before [reads(wanted, len)],
        after |found| [reads(bytes, if found.is_null() { size } else { offset(found, bytes) + len })];
    memccpy(to: *mut c_void, from: Bytes, until: c_int, size: size_t) -> *mut c_void,
        before [],
        after |end| [
            reads(from, if end.is_null() { size } else { offset(end, to) }),
            writes(to, if end.is_null() { size } else { offset(end, to) })
        ];
    mempcpy(to: *mut c_void, from: Bytes, size: size_t) -> *mut c_void,
        before [reads(from, size)], after |_| [writes(to, size)];
    bcopy(from: Bytes, to: *mut c_void, size: size_t) -> (),
        before [reads(from, size)], after |_| [writes(to, size)];
    bzero(to: *mut c_void, size: size_t) -> (), before [], after |_| [writes(to, size)];
    explicit_bzero(to: *mut c_void, size: size_t) -> (), before [], after |_| [writes(to, size)];
    swab(from: Bytes, to: *mut c_void, size: ssize_t) -> (),
        before [reads(from, size.max(0) as usize & !1)], after |_| [writes(to, size.max(0) as usize & !1)];
}
