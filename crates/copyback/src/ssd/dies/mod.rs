//! Dies: the next command of each die, and the handling of its end.

pub(super) mod completion;
pub(super) mod die;
pub(super) mod die_table;
pub(super) mod die_view;
pub(super) mod issue;
pub(super) mod row_commands;
pub(super) mod write_binding;
