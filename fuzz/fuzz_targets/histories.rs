#![no_main]

#[path = "../refine_target.rs"]
mod refine_target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| refine_target::histories(bytes));
