//! What all hooks lead to: the program's registers are saved, a function of ours is called, and all is as it was.
//!
//! A function of the program does not expect that anything happens at its first instruction or at its return. Whatever our code may
//! change is put back: the general registers that calls may change, and all vector registers in full, as wide ones may hold arguments
//! or, in functions that call nothing, what a compiler knows they leave alone. Flags are nothing that a caller or a function counts on there.

use std::arch::{naked_asm, x86_64::__cpuid_count};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Whether the processor can save what of its vector registers is in use.
static SAVES_IN_USE: AtomicU8 = AtomicU8::new(0);

/// Room for all vector registers (of AVX-512, in the compact form: 2432 bytes), and to align it.
const ROOM: usize = 2560;
/// The parts of the processor's state: SSE, AVX and AVX-512.
const PARTS: u32 = 0xe6;

/// Finds out what the processor can do.
pub(super) fn start() {
    const STATE: u32 = 0xd;
    const COMPACT: u32 = 1 << 1;
    const OS_SAVES: u32 = 1 << 27;
    let saves = __cpuid_count(1, 0).ecx & OS_SAVES != 0 && __cpuid_count(STATE, 1).eax & COMPACT != 0;
    SAVES_IN_USE.store(u8::from(saves), Relaxed);
}

/// Called by the pieces of code that hooks jump to. On the stack are where to go on, the number of the hook, and then what was there.
///
/// The driver looks for this name in a program, to know that it can have hooks.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(super) extern "C" fn foresee_hook() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        // In the order of `foresee_format::Saved`, from the top.
        "push r11",
        "push r10",
        "push rax",
        "push r9",
        "push r8",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "sub rsp, {room}",
        "and rsp, -64",
        "cmp byte ptr [rip + {saves}], 0",
        "je 2f",
        // The header must be zero where the instruction does not fill it.
        "xor eax, eax",
        "mov [rsp + 512], rax",
        "mov [rsp + 520], rax",
        "mov [rsp + 528], rax",
        "mov [rsp + 536], rax",
        "mov [rsp + 544], rax",
        "mov [rsp + 552], rax",
        "mov [rsp + 560], rax",
        "mov [rsp + 568], rax",
        "xor edx, edx",
        "mov eax, {parts}",
        "xsavec64 [rsp]",
        "lea rdi, [rbp - 72]",
        "lea rsi, [rbp + 24]",
        "mov rdx, [rbp + 16]",
        "call {reached}",
        "xor edx, edx",
        "mov eax, {parts}",
        "xrstor64 [rsp]",
        "jmp 3f",
        "2:",
        "fxsave64 [rsp]",
        "lea rdi, [rbp - 72]",
        "lea rsi, [rbp + 24]",
        "mov rdx, [rbp + 16]",
        "call {reached}",
        "fxrstor64 [rsp]",
        "3:",
        "lea rsp, [rbp - 72]",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop r8",
        "pop r9",
        "pop rax",
        "pop r10",
        "pop r11",
        "pop rbp",
        "ret 8",
        room = const ROOM,
        parts = const PARTS,
        saves = sym SAVES_IN_USE,
        reached = sym super::reached
    )
}
