//! What all hooks lead to: the program's registers are saved, a function of ours is called, and all is as it was.
//!
//! A function of the program does not expect that anything happens at its first instruction or at its return. Whatever our code may
//! change is put back: the general registers that calls may change, and all vector registers in full, as wide ones may hold arguments
//! or, in functions that call nothing, what a compiler knows they leave alone. Flags are nothing that a caller or a function counts on there.
//!
//! Where it is known that none of them matters ([`plain_hook`]) vector registers are left alone.
//!
//! Saving all vector registers takes more time than everything else here. Most of the time only their lower 16 bytes are in use, which the
//! processor can tell; the upper ones are zero then, and still are when our code has run, as it uses none or clears them.

use std::arch::{naked_asm, x86_64::__cpuid_count};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What the processor can do.
static ABLE: AtomicU8 = AtomicU8::new(NARROW);
/// It has no registers of more than 16 bytes.
const NARROW: u8 = 0;
/// It tells whether more than 16 bytes of its registers are in use.
const TELLS: u8 = 1;
/// It does not, and can save them all.
const SAVES: u8 = 2;

/// Room for all vector registers (of AVX-512, in the compact form: 2432 bytes), and to align it.
const ROOM: usize = 2560;
/// The parts of the processor's state: SSE, AVX and AVX-512.
const PARTS: u32 = 0xe6;
/// The same without SSE.
const WIDE_PARTS: u32 = 0xe4;

/// Finds out what the processor can do; false if that is not enough.
pub(super) fn start() -> bool {
    const STATE: u32 = 0xd;
    const COMPACT: u32 = 1 << 1;
    const IN_USE: u32 = 1 << 2;
    const OS_SAVES: u32 = 1 << 27;
    if __cpuid_count(1, 0).ecx & OS_SAVES == 0 {
        return true;
    }
    let able = __cpuid_count(STATE, 1).eax;
    ABLE.store(if able & IN_USE != 0 { TELLS } else { SAVES }, Relaxed);
    able & COMPACT != 0
}

/// Puts the general registers that calls may change on the stack, in the order of `foresee_format::Saved`, from the top.
macro_rules! save_registers {
    () => {
        "push rbp; mov rbp, rsp; push r11; push r10; push rax; push r9; push r8; push rcx; push rdx; push rsi; push rdi"
    };
}

/// Says what was saved, where the return address is, and the number of the hook.
macro_rules! call_reached {
    () => {
        "lea rdi, [rbp - 72]; lea rsi, [rbp + 24]; mov rdx, [rbp + 16]; call {reached}"
    };
}

/// Takes them back, and goes on.
macro_rules! restore_registers {
    () => {
        "lea rsp, [rbp - 72]; pop rdi; pop rsi; pop rdx; pop rcx; pop r8; pop r9; pop rax; pop r10; pop r11; pop rbp; ret 8"
    };
}

/// Called by the pieces of code that hooks jump to. On the stack are where to go on, the number of the hook, and then what was there.
///
/// The driver looks for this name in a program, to know that it can have hooks.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(super) extern "C" fn foresee_hook() {
    naked_asm!(
        save_registers!(),
        "sub rsp, {room}",
        "and rsp, -64",
        "cmp byte ptr [rip + {able}], {tells}",
        "jb 2f",
        "ja 4f",
        "mov ecx, 1",
        "xgetbv",
        "test eax, {wide_parts}",
        "jz 2f",
        "4:",
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
        call_reached!(),
        "xor edx, edx",
        "mov eax, {parts}",
        "xrstor64 [rsp]",
        "jmp 3f",
        "2:",
        "movaps [rsp + 0], xmm0",
        "movaps [rsp + 16], xmm1",
        "movaps [rsp + 32], xmm2",
        "movaps [rsp + 48], xmm3",
        "movaps [rsp + 64], xmm4",
        "movaps [rsp + 80], xmm5",
        "movaps [rsp + 96], xmm6",
        "movaps [rsp + 112], xmm7",
        "movaps [rsp + 128], xmm8",
        "movaps [rsp + 144], xmm9",
        "movaps [rsp + 160], xmm10",
        "movaps [rsp + 176], xmm11",
        "movaps [rsp + 192], xmm12",
        "movaps [rsp + 208], xmm13",
        "movaps [rsp + 224], xmm14",
        "movaps [rsp + 240], xmm15",
        call_reached!(),
        "movaps xmm0, [rsp + 0]",
        "movaps xmm1, [rsp + 16]",
        "movaps xmm2, [rsp + 32]",
        "movaps xmm3, [rsp + 48]",
        "movaps xmm4, [rsp + 64]",
        "movaps xmm5, [rsp + 80]",
        "movaps xmm6, [rsp + 96]",
        "movaps xmm7, [rsp + 112]",
        "movaps xmm8, [rsp + 128]",
        "movaps xmm9, [rsp + 144]",
        "movaps xmm10, [rsp + 160]",
        "movaps xmm11, [rsp + 176]",
        "movaps xmm12, [rsp + 192]",
        "movaps xmm13, [rsp + 208]",
        "movaps xmm14, [rsp + 224]",
        "movaps xmm15, [rsp + 240]",
        "3:",
        restore_registers!(),
        room = const ROOM,
        parts = const PARTS,
        able = sym ABLE,
        tells = const TELLS,
        wide_parts = const WIDE_PARTS,
        reached = sym super::hooks::reached
    )
}

/// The same where nobody needs what is in vector registers: they hold no argument and no result there, and whoever has called counts on none of them.
#[unsafe(naked)]
pub(super) extern "C" fn plain_hook() {
    naked_asm!(
        save_registers!(),
        "and rsp, -16",
        call_reached!(),
        restore_registers!(),
        reached = sym super::hooks::reached
    )
}
