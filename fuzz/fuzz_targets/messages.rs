#![no_main]

#[path = "../observer_target.rs"]
mod observer_target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| observer_target::messages(bytes));
