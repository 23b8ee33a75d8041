#![no_main]

#[path = "../targets.rs"]
#[allow(dead_code)] // one function per fuzz target
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::raw_trace(bytes));
