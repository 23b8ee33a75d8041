//! Assembly orders threads: what it may order is in doubt, and no more is said.

use std::arch::asm;
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::thread;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] =
    &[("system_calls", system_calls), ("spin_lock", spin_lock), ("call_in_section", call_in_section)];

/// As crates make system calls that do without the C library.
#[inline(never)]
unsafe fn system_call(number: usize, fd: i32, at: *mut u8) -> isize {
    let result;
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") fd as isize, in("rsi") at, in("rdx") 1_usize,
            out("rcx") _, out("r11") _, options(nostack));
    }
    result
}

fn system_calls() {
    const READ: usize = 0;
    const WRITE: usize = 1;
    let (reader, writer) = std::io::pipe().unwrap();
    let value = Plain::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            assert_eq!(unsafe { system_call(WRITE, writer.as_raw_fd(), &mut 1) }, 1);
        });
        scope.spawn(|| {
            assert_eq!(unsafe { system_call(READ, reader.as_raw_fd(), &mut 0) }, 1);
            assert_eq!(value.get(), 1);
        });
    });
}

#[inline(never)]
unsafe fn lock(word: *mut u32) {
    unsafe {
        asm!("2:", "mov {one:e}, 1", "xchg dword ptr [{word}], {one:e}", "test {one:e}, {one:e}", "jz 3f", "pause",
            "jmp 2b", "3:", word = in(reg) word, one = out(reg) _);
    }
}

#[inline(never)]
unsafe fn unlock(word: *mut u32) {
    unsafe { asm!("mov dword ptr [{word}], 0", word = in(reg) word) }
}

fn spin_lock() {
    static WORD: Plain<u32> = Plain::new(0);
    let value = Plain::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..500 {
                    unsafe { lock(WORD.address()) };
                    value.set(value.get() + 1);
                    unsafe { unlock(WORD.address()) };
                }
            });
        }
    });
    assert_eq!(value.get(), 1000);
}

/// A call within assembly changes what a lock protects.
fn call_in_section() {
    let (value, is_set) = (Plain::new(0), Mutex::new(0_u64));
    thread::scope(|scope| {
        scope.spawn(|| {
            value.set(1);
            let mut is_set = is_set.lock().unwrap();
            let at: *mut u64 = &mut *is_set;
            unsafe {
                asm!("call 4f", "jmp 5f", "4: lock inc qword ptr [{at}]", "ret", "5:", at = in(reg) at)
            };
        });
        scope.spawn(|| {
            while *is_set.lock().unwrap() == 0 {
                thread::yield_now();
            }
            assert_eq!(value.get(), 1);
        });
    });
}
