//! Pages that a plane skips (`compose.align`): what may follow.

use super::*;
use crate::sim::index::BlockId;

/// The block of plane 0 whose first three pages are programmed.
const BEGUN: BlockId = BlockId(1);

/// Its pages 3 and 4 are skipped.
fn skip(w: &mut ProtocolChecker) {
    w.on_skipped(BEGUN, 5);
}

#[test]
fn a_skipped_page_is_neither_read_nor_programmed_until_its_block_is_erased() {
    let then = |op: FlashOp, offset: u32| {
        broken("", |w| {
            skip(w);
            w.on_command(0, 0, 0, op, &[page(0, 1, offset)]);
        })
    };
    assert_eq!(then(Program, 5), None);
    assert_eq!([Program, Copyback].map(|op| then(op, 4)), [Some(Invariant::OnfiEraseFirst); 2]);
    assert_eq!(then(Program, 6), Some(Invariant::OnfiPageOrder));
    assert_eq!([2, 3, 4, 5].map(|offset| then(Read, offset).is_some()), [false, true, true, true]);
    assert_eq!(then(Read, 4), Some(Invariant::OnfiReadProgrammed));
    // Only pages of the block that are not programmed.
    for offset in [2, 3, PAGES_PER_BLOCK] {
        assert_eq!(broken("", |w| w.on_skipped(BEGUN, offset)), Some(Invariant::OnfiPageOrder), "{offset}");
    }
    // The erase forgets them; so does one that takes no time.
    let erased = |w: &mut ProtocolChecker, is_timeless: bool| {
        skip(w);
        match is_timeless {
            true => w.on_timeless(BEGUN, 0),
            false => {
                w.on_command(0, 0, 0, Erase, &[page(0, 1, 0)]);
                w.on_transfer(0, 0, Carries::Cycles, 0, CYCLES_NS);
                w.on_array(0, 0, CYCLES_NS, CYCLES_NS + ERASE_NS);
            }
        }
        w.on_timeless(BEGUN, 4);
        w.on_command(0, 0, CYCLES_NS + ERASE_NS, Read, &[page(0, 1, 3)]);
    };
    assert_eq!([true, false].map(|is_timeless| broken("", |w| erased(w, is_timeless))), [None, None]);
}
