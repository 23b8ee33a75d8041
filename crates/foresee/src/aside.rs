//! The monitors' own work, which is no part of the program: nothing of it is recorded, neither its accesses nor its locks.
//!
//! What handlers do is the program's: monitors call them when their own work is done.

/// Does the work of a monitor.
#[cfg(all(foresee, target_arch = "x86_64", target_os = "linux"))]
#[inline(always)]
pub(crate) fn aside<R>(work: impl FnOnce() -> R) -> R {
    weak! { #[allow(unreachable_pub)] begin() => "foresee_monitor_begin" }
    weak! { #[allow(unreachable_pub)] end() => "foresee_monitor_end" }
    struct Ends;
    impl Drop for Ends {
        #[inline(always)]
        fn drop(&mut self) {
            end();
        }
    }
    begin();
    let _ends = Ends;
    work()
}

/// Does the work of a monitor.
#[cfg(not(all(foresee, target_arch = "x86_64", target_os = "linux")))]
#[inline(always)]
pub(crate) fn aside<R>(work: impl FnOnce() -> R) -> R {
    work()
}
