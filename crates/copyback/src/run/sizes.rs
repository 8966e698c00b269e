//! Settings that are absolute numbers instead of shares of a drive: they do not change when a drive is made smaller.

use super::config::RunConfig;
use crate::config::{ShareOrCount, number};
use crate::flash::geometry::Geometry;
use copyback_workload::units::format_bytes;

impl RunConfig {
    /// The notes on settings that are large for a drive as small as this one.
    pub(crate) fn notes_of_sizes(&self) -> Vec<String> {
        self.note_of_watermark().into_iter().chain(self.note_of_buffer()).collect()
    }

    /// The note that a watermark keeps more than half of the spare blocks free, so that collections have little choice.
    fn note_of_watermark(&self) -> Option<String> {
        // Merges have no watermark.
        let merges = self.mapping.log_blocks().is_some();
        let (key, watermark) = self.trigger.stop_key().filter(|_| !merges)?;
        let (data_blocks, _) = self.data_blocks().ok()?;
        let spare = u64::from(self.geometry.blocks_per_plane).checked_sub(data_blocks)?;
        let (_, own) = self.trigger.blocks_per_plane(&self.geometry);
        // The free blocks that a die's last plane keeps. Collection in idle time goes further, but only if the host
        // leaves it time.
        let kept = own + self.trigger.stagger_blocks() * (self.geometry.planes_per_die - 1);
        let more = if kept > own { ", with `trigger.stagger`," } else { "" };
        let counts = match watermark {
            ShareOrCount::Blocks(count) => format!("`{key} = {count}` counts blocks, however few a drive has"),
            ShareOrCount::Share(share) => format!("`{key} = {}` is a share of all blocks", number(share)),
        };
        (2 * u64::from(kept) > spare).then(|| {
            format!(
                "{counts}: collection{more} keeps {kept} of the {spare} spare blocks of each plane free, more than \
                 half, and \
                 collects blocks that hold few invalid pages; lower it, or raise `capacity.over_provisioning`, which \
                 adds spare blocks"
            )
        })
    }

    /// The note that a buffer can hold all data of the drive. Data that leaves it in idle time is still written.
    fn note_of_buffer(&self) -> Option<String> {
        let size = self.buffer.size_bytes()?;
        let capacity = Geometry::new(&self.device()).logical_bytes();
        (size >= capacity && self.buffer.idle_after().is_none()).then(|| {
            format!(
                "the buffer holds {} (`buffer.size`), and the drive {}: all writes fit into the \
                 buffer, so that no write reaches the flash; lower `buffer.size`",
                format_bytes(size),
                format_bytes(capacity)
            )
        })
    }
}
