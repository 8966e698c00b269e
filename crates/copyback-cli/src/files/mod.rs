//! Files: reading inputs, writing outputs so that a partial one never stands under its final name, and keeping the two
//! apart.

mod read;
mod same;
mod write;

pub use read::{
    Input, check_file, forget_descriptions, hash_bytes, hash_file, looks_like_path, nearest_file, other_simulator,
    read_any_text, read_text,
};
pub use same::{Output, refuse_clashes};
pub use write::{
    check_output, check_writable, folder_of, folder_of_output, is_file, is_standard_output, is_temporary, print,
    write_bytes, write_made, write_text, write_whole,
};
