//! The hooks of a program, and what is recorded where it comes to one.

use std::ffi::c_char;
use std::slice::Iter;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Acquire, Ordering::Release};

use foresee_format::{
    ARG_INT, ARG_OBJECT, MOST_SHORT, SAVED_REGISTERS, ShortCall, Stop, Tag, TextForm, ValueWord,
};

use super::kept::{self, Arguments};
use super::table::{Hook, ShortValues};
use crate::recorder::thread::always;
use crate::recorder::{order, status, trace_file};
use crate::{readable, sdk};

/// All hooks, by their numbers.
static HOOKS: AtomicPtr<Hook> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Keeps the hooks for ever.
pub(super) fn keep(hooks: Box<[Hook]>) -> &'static [Hook] {
    let hooks: &'static mut [Hook] = Box::leak(hooks);
    HOOKS.store(hooks.as_mut_ptr(), Release);
    COUNT.store(hooks.len(), Release);
    hooks
}

/// The program has come to a hook. `registers` are its registers, `frame` is where the return address is.
pub(super) extern "C" fn reached(registers: *const [u64; SAVED_REGISTERS], frame: *const u64, number: usize) {
    if number >= COUNT.load(Acquire) {
        return;
    }
    // SAFETY: there are so many hooks, which are never freed nor changed; the trampoline passes the address of what it has saved, and
    // of the return address, or of the words that the hook has saved below it.
    let (hook, registers) = unsafe { (&*HOOKS.load(Acquire).add(number), &*registers) };
    // SAFETY: as before.
    let (place, pc) = unsafe {
        let place = frame.add(hook.saved.words());
        (place as u64, place.read())
    };
    let bits = |value: ValueWord| match value.register {
        ValueWord::CALL => place,
        _ => bits(value, registers, frame),
    };
    if !hook.kept.is_empty() {
        let mut arguments: Arguments = Default::default();
        for (argument, word) in arguments.iter_mut().zip(hook.kept) {
            let value = ValueWord::from_word(*word);
            *argument = value.value(bits(value));
        }
        if !kept::keep(place, number, &arguments) {
            // A return without them is another event, and properties would be held against what did not happen.
            trace_file::stop(order::now(), Stop::NoMemory);
        }
    }
    if hook.only_keeps {
        return;
    }
    let kept = hook.entry.and_then(|entry| kept::take(place, entry));
    always(|local| {
        if let Some(short) = &hook.short
            && !status::monitored()
            && local.short_call(&short_call(hook, short, pc, number, kept.as_ref(), &bits))
        {
            return;
        }
        let mut words = hook.values.iter();
        while let Some(word) = words.next() {
            let value = ValueWord::from_word(*word);
            if value.field {
                let offset = words.next().copied().unwrap_or_default();
                // Where no object is, no field is, nor are those that follow: values are told apart by their order.
                let Some(held) = field(bits(value), offset, value.size) else { break };
                local.plain(Tag::Arg, ARG_INT, [value.value(held)]);
                continue;
            }
            if value.register == ValueWord::KEPT {
                // Without its beginning, of a return there is the result alone.
                let Some(kept) = &kept else { break };
                let argument = kept.get(value.offset as usize).copied().unwrap_or_default();
                local.plain(Tag::Arg, kind(value), [argument]);
                continue;
            }
            if let Some((start, len)) = text(value, &mut words, &bits) {
                sdk::string_argument(local, start, len);
                continue;
            }
            local.plain(Tag::Arg, kind(value), [value.value(bits(value))]);
        }
        local.stamped(Tag::Call, hook.detail, [pc, number as u64]);
    });
}

/// A call whose values are known at once.
#[inline(always)]
fn short_call(
    hook: &Hook,
    short: &ShortValues,
    pc: u64,
    number: usize,
    kept: Option<&Arguments>,
    bits: &impl Fn(ValueWord) -> u64,
) -> ShortCall {
    let mut call = ShortCall {
        pc,
        hook: number as u64,
        detail: hook.detail,
        count: 0,
        values: [0; MOST_SHORT],
        objects: short.objects,
    };
    for (into, &value) in call.values.iter_mut().zip(&short.values).take(short.count) {
        *into = if value.register == ValueWord::KEPT {
            // Without its beginning, of a return there is the result alone.
            let Some(kept) = kept else { break };
            kept.get(value.offset as usize).copied().unwrap_or_default()
        } else {
            value.value(bits(value))
        };
        call.count += 1;
    }
    call
}

/// As what a value is recorded that leads to no text.
fn kind(value: ValueWord) -> u8 {
    let is_object = value.object || value.text != TextForm::None;
    if is_object { ARG_OBJECT } else { ARG_INT }
}

/// The bits of a field, if there is an object at this address.
fn field(object: u64, offset: u64, size: u8) -> Option<u64> {
    let at = object.wrapping_add(offset);
    let is_whole = at.is_multiple_of(size.max(1).into());
    if object == 0 || !is_whole || !readable::is_there(at as *const u8, size.into()) {
        return None;
    }
    // SAFETY: so many bytes are there, and aligned. Others may write them at the same time, each time as a whole.
    unsafe {
        Some(match size {
            1 => (at as *const u8).read_volatile().into(),
            2 => (at as *const u16).read_volatile().into(),
            4 => (at as *const u32).read_volatile().into(),
            8 => (at as *const u64).read_volatile(),
            _ => return None,
        })
    }
}

/// The text that a value leads to, with what the words behind it say of it; `None` if it leads to none, or to what is not there.
fn text(
    value: ValueWord,
    words: &mut Iter<'_, u64>,
    bits: &impl Fn(ValueWord) -> u64,
) -> Option<(*const u8, usize)> {
    let (start, len) = match value.text {
        TextForm::None => return None,
        TextForm::Ended => {
            let start = bits(value) as *const c_char;
            return readable::text_len(start, sdk::MAX_TEXT).map(|len| (start.cast(), len));
        }
        TextForm::Counted => (bits(value), bits(ValueWord::from_word(*words.next()?))),
        TextForm::Structure => {
            let parts = *words.next()?;
            let word = |at: u64| {
                let word = bits(value).wrapping_add(at) as *const u64;
                // SAFETY: it is there, and a text that is lent or handed over is changed by nobody else meanwhile.
                readable::is_there(word, 8).then(|| unsafe { word.read_unaligned() })
            };
            (word(parts & u64::from(u32::MAX))?, word(parts >> 32)?)
        }
    };
    let (start, len) = (start as *const u8, (len as usize).min(sdk::MAX_TEXT));
    readable::is_there(start, len).then_some((start, len))
}

/// What hooks are, for the trace ([`foresee_format::TEXT_CALLS`]).
pub(super) fn names(hooks: &[Hook]) -> Vec<u8> {
    let texts = hooks.iter().flat_map(|hook| [hook.parameters, hook.name]);
    texts.flat_map(|text| text.bytes().filter(|byte| *byte != 0).chain([0])).collect()
}

/// The bits of a value, where it is.
fn bits(value: ValueWord, registers: &[u64; SAVED_REGISTERS], frame: *const u64) -> u64 {
    let found = match (registers.get(usize::from(value.register)), value.register) {
        (Some(bits), _) => *bits,
        (None, ValueWord::NOTHING) => 0,
        // SAFETY: the driver has found out that the function is called with an argument there, or the hook has saved it there.
        (None, _) => unsafe { frame.byte_add(value.offset as usize).read_unaligned() },
    };
    if !value.stored || found == 0 {
        return found;
    }
    let mut bytes = [0; 8];
    let len = usize::from(value.size).min(bytes.len());
    // SAFETY: the function was called with the address of a variable of this size, in which it stores something, and has returned.
    unsafe { std::ptr::copy_nonoverlapping(found as *const u8, bytes.as_mut_ptr(), len) };
    u64::from_le_bytes(bytes)
}
