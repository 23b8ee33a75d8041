//! Memory that may not be there. The kernel answers a pointer that leads nowhere with `EFAULT`, and the program goes on: so nothing that a program hands to the kernel
//! may be read as if it were there for certain.
//!
//! The kernel is asked to copy it, which costs a system call, beside the one that the program is about to do. Where it does not do that for a process itself
//! (a filter of system calls), memory is taken to be there.

use std::ffi::c_char;

/// A copy may end at a page that is not there: so none goes beyond one.
const PAGE: usize = 4096;
/// So much of a text is looked at first.
const SHORT: usize = 256;

/// Copies bytes from anywhere to where there is room for them, within a page; whether they are there.
fn copy(from: usize, to: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: from as *mut _, iov_len: to.len() };
    // SAFETY: the kernel writes to `to` alone, and reads the two descriptions. `errno` is this thread's own, and put back, as it belongs to the program.
    unsafe {
        let errno = *libc::__errno_location();
        let process = libc::syscall(libc::SYS_getpid);
        let copied = libc::syscall(
            libc::SYS_process_vm_readv,
            process,
            &raw const local,
            1_usize,
            &raw const remote,
            1_usize,
            0_usize,
        );
        let is_there = copied == to.len() as i64 || copied < 0 && *libc::__errno_location() != libc::EFAULT;
        if copied < 0 && is_there {
            std::ptr::copy_nonoverlapping(from as *const u8, to.as_mut_ptr(), to.len());
        }
        *libc::__errno_location() = errno;
        is_there
    }
}

/// Visits the bytes from here on, as long as they are there and `visit` wants more; whether all that it wanted were there.
fn visit(start: usize, mut visit: impl FnMut(u8) -> bool) -> bool {
    let (mut bytes, mut at, mut most) = ([0; PAGE], start, SHORT);
    loop {
        let size = most.min(PAGE - at % PAGE);
        let bytes = &mut bytes[..size];
        if !copy(at, bytes) {
            return false;
        }
        if !bytes.iter().all(|byte| visit(*byte)) {
            return true;
        }
        (at, most) = (at.wrapping_add(size), PAGE);
    }
}

/// Visits the bytes of a text up to the zero byte at its end, or up to so many; whether they are all there.
pub(crate) fn visit_text(text: *const c_char, most: usize, mut look: impl FnMut(u8)) -> bool {
    let mut left = most;
    !text.is_null()
        && (most == 0
            || visit(text as usize, |byte| {
                if byte == 0 {
                    return false;
                }
                left -= 1;
                look(byte);
                left > 0
            }))
}

/// How long a text is without the zero byte at its end, as far as `most`; `None` if it is not there.
pub(crate) fn text_len(text: *const c_char, most: usize) -> Option<usize> {
    let mut len = 0;
    visit_text(text, most, |_| len += 1).then_some(len)
}

/// Whether so many bytes are there.
pub(crate) fn is_there<T>(at: *const T, size: usize) -> bool {
    let mut left = size;
    size == 0
        || !at.is_null()
            && visit(at as usize, |_| {
                left -= 1;
                left > 0
            })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_read() {
        assert_eq!(text_len(c"some text".as_ptr(), usize::MAX), Some(9));
        assert_eq!(text_len(c"some text".as_ptr(), 4), Some(4));
        for nowhere in [std::ptr::null(), 8 as *const c_char, usize::MAX as *const c_char] {
            assert_eq!(text_len(nowhere, usize::MAX), None);
            assert!(!is_there(nowhere, 1) && is_there(nowhere, 0));
        }
        let long = vec![b'x'; 10_000];
        assert!(is_there(long.as_ptr(), long.len()));
    }

    #[test]
    fn a_text_that_runs_into_nothing_is_not_there() {
        // SAFETY: a new mapping of two pages, of which nobody may use the second; only the first is written.
        unsafe {
            let pages = libc::mmap(
                std::ptr::null_mut(),
                2 * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_eq!(libc::mprotect(pages.byte_add(PAGE), PAGE, libc::PROT_NONE), 0);
            let end = pages.byte_add(PAGE - 3).cast::<c_char>();
            std::ptr::write_bytes(end, b'x', 3);
            assert_eq!((text_len(end, usize::MAX), text_len(end, 3)), (None, Some(3)));
            assert!(is_there(end, 3) && !is_there(end, 4));
        }
    }
}
