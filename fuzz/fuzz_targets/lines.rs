#![no_main]
libfuzzer_sys::fuzz_target!(init: copyback_fuzz::let_readers_catch_panics(), |bytes: &[u8]| copyback_fuzz::check("lines", bytes));
