//! One entry for each superpage: consecutive logical pages, as many as a die has planes, that lie in one row.
//!
//! Source: `superpage` of tpds20 (Section 5.3). Its pages are placed, buffered, written and moved together. A write of
//! some of these pages first reads the others that hold data; pages that were never written are padding. A read
//! transfers only the requested pages. Of two concurrent writes of one superpage, the later one includes the earlier
//! one's data: the controller merges them. Needs a drive that is written in rows (`frontier.policy = "row"`).
//!
//! ```text
//! logical pages   0 1 | 2 3 | 4 5       plane 0   0 | 4 | 2
//!                                       plane 1   1 | 5 | 3
//! an update of page 3:  R 2   W(2 3)    in the next row of the die
//! ```
//!
//! This map is in DRAM. `dftl`, `map-cache` and `fast` have superpages, too, with `superpages = true`.
//!
//! Parameters: none. The simulator keeps the location of each page, as with `page`.

use serde::{Deserialize, Serialize};

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}
