//! Functions of Rust's library that access what they are given, and do nothing else that others could notice.
//!
//! Most of the library that does so is generic, and compiled with the user's crates. What comes compiled is how numbers, characters and
//! texts are formatted, how a vector of some types gets more room, and some of what reads texts.
//!
//! Relied on: arguments are in registers as C has them, a slice in two; what is longer than two registers is returned where a hidden first
//! argument points.

/// Which bytes of the program's a function accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Accesses {
    /// It reads so many, where its first argument points.
    Value(u32),
    /// It reads the text in its first two arguments.
    Text,
    /// It reads the text in the two arguments after its first.
    TextAfterFirst,
    /// It reads the text in its fourth and fifth arguments.
    TextAfterThird,
    /// It reads the `String` where its second argument points.
    StringAtSecond,
    /// It changes a vector's capacity and pointer, where its first argument points. (The allocator records what becomes of the contents.)
    Room,
}

/// Functions by their paths.
pub(super) const FUNCTIONS: &[(&str, Accesses)] = &[
    ("core::fmt::Formatter::pad", Accesses::TextAfterFirst),
    ("core::fmt::Formatter::write_str", Accesses::TextAfterFirst),
    ("core::fmt::Formatter as core::fmt::Write::write_str", Accesses::TextAfterFirst),
    ("str as core::fmt::Display::fmt", Accesses::Text),
    ("str as core::fmt::Debug::fmt", Accesses::Text),
    ("core::slice::memchr::memchr_aligned", Accesses::TextAfterFirst),
    ("core::slice::memchr::memrchr", Accesses::TextAfterFirst),
    ("core::str::converts::from_utf8", Accesses::TextAfterFirst),
    ("core::str::pattern::StrSearcher::new", Accesses::TextAfterThird),
    ("alloc::string::String::from_utf8_lossy", Accesses::TextAfterFirst),
    ("alloc::string::String as core::clone::Clone::clone", Accesses::StringAtSecond),
    ("str::to_lowercase", Accesses::TextAfterFirst),
    ("str::to_uppercase", Accesses::TextAfterFirst),
    ("std::time::Instant::elapsed", Accesses::Value(INSTANT)),
    ("std::time::Instant::duration_since", Accesses::Value(INSTANT)),
    ("std::time::Instant::saturating_duration_since", Accesses::Value(INSTANT)),
];

/// The seconds and nanoseconds of a point in time.
const INSTANT: u32 = 12;

/// The types that are formatted by code of the library, with their sizes.
pub(super) const FORMATTED: &[(&str, u32)] = &[
    ("bool", 1),
    ("char", 4),
    ("u8", 1),
    ("i8", 1),
    ("u16", 2),
    ("i16", 2),
    ("u32", 4),
    ("i32", 4),
    ("u64", 8),
    ("i64", 8),
    ("usize", 8),
    ("isize", 8),
    ("u128", 16),
    ("i128", 16),
    ("f32", 4),
    ("f64", 8),
    ("core::time::Duration", 12),
    ("core::num::error::ParseIntError", 1),
];

/// What the function of this path accesses, if it is one of these. The old mangling does not tell the type of `self`: there few are.
pub(super) fn of(path: &str) -> Option<Accesses> {
    if let Some(method) = path.strip_prefix("alloc::raw_vec::RawVec") {
        let is_growing =
            method.ends_with("::grow_one") || method.starts_with("Inner_::reserve::do_reserve_and_handle");
        return is_growing.then_some(Accesses::Room);
    }
    if let Some((_, accesses)) = FUNCTIONS.iter().find(|(known, _)| *known == path) {
        return Some(*accesses);
    }
    let (of, implemented) = path.split_once(" as core::fmt::")?;
    let (_, size) = FORMATTED.iter().find(|(name, _)| *name == of)?;
    implemented.ends_with("::fmt").then_some(Accesses::Value(*size))
}

impl Accesses {
    /// The body of what stands in front of a function: it tells the runtime, if there is one, and goes on to the function.
    pub(super) fn announced_before(self, symbol: &str) -> String {
        let handler = match self {
            Accesses::Room => "foresee_std_changes",
            Accesses::StringAtSecond => "foresee_std_reads_string",
            _ => "foresee_std_reads",
        };
        let arguments = match self {
            Accesses::Value(size) => format!("movl ${size}, %esi\n"),
            Accesses::Room => "movl $16, %esi\n".to_owned(),
            Accesses::Text => String::new(),
            Accesses::TextAfterFirst => "movq %rsi, %rdi\nmovq %rdx, %rsi\n".to_owned(),
            Accesses::TextAfterThird => "movq %rcx, %rdi\nmovq %r8, %rsi\n".to_owned(),
            Accesses::StringAtSecond => "movq %rsi, %rdi\n".to_owned(),
        };
        let saved = ["rdi", "rsi", "rdx", "rcx", "r8"];
        let save: String =
            saved.iter().map(|name| format!("pushq %{name}\n.cfi_adjust_cfa_offset 8\n")).collect();
        let restore: String =
            saved.iter().rev().map(|name| format!("popq %{name}\n.cfi_adjust_cfa_offset -8\n")).collect();
        // The return address lies behind what is saved; with it, the stack is aligned.
        let caller = 8 * saved.len();
        format!(
            ".cfi_startproc\n\
             .weak {handler}\n\
             movq {handler}@GOTPCREL(%rip), %r11\n\
             testq %r11, %r11\n\
             je \"__real_{symbol}\"\n\
             {save}\
             {arguments}\
             movq {caller}(%rsp), %rdx\n\
             call *%r11\n\
             {restore}\
             jmp \"__real_{symbol}\"\n\
             .cfi_endproc"
        )
    }
}
