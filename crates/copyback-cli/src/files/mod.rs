//! Files: reading inputs, writing outputs so that a partial one never stands under its final name, and keeping the two
//! apart.

mod same;
mod write;

pub use copyback_lab::files::*;
pub use same::{Output, refuse_clashes};
pub use write::{
    check_output, check_writable, folder_of_output, is_file, is_standard_output, is_temporary, print, write_bytes,
    write_made, write_text, write_whole,
};
