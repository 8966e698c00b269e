//! Do the schemes issue the commands that the papers' worked figures show?
//!
//! Each test builds the drive of a figure page by page (`copyback::scene`), hands it the figure's requests, runs it
//! with all checks on, and compares the commands with a table that a reader can hold against the figure (`table`).
//! Tables follow from the papers' texts; what a figure leaves open, its module says.

mod hpdc18;
mod ispass11;
mod table;
mod tpds20;
mod tpds20_maps;
mod tpds20_merges;
mod tpds20_rows;
