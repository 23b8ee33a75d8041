#![no_main]

#[path = "../spec_target.rs"]
mod spec_target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| spec_target::spec(bytes));
