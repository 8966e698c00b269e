#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| copyback_fuzz::check("blktrace", bytes));
