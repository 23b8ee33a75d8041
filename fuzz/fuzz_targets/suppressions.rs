#![no_main]

#[path = "../settings_target.rs"]
mod settings_target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| settings_target::suppressions(bytes));
