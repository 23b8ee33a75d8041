#![no_main]

#[path = "../property_target.rs"]
mod property_target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| property_target::events(bytes));
