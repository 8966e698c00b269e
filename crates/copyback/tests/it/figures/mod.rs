//! Do the schemes issue the commands that the papers' worked figures show?
//!
//! Each test builds the drive of a figure page by page (`copyback::scene`), submits the figure's requests, runs it with
//! all checks on, and compares the commands with a table that readers can compare with the figure (`table`). Tables
//! follow from the papers' texts; the modules state what the figures leave open.

mod hpdc18;
mod hpdc18_transfers;
mod ispass11;
mod ispass11_register;
mod table;
mod tpds20;
mod tpds20_alignment;
mod tpds20_maps;
mod tpds20_merges;
mod tpds20_rows;
