//! Notes on settings that do not suit a drive's size: a watermark that keeps most spare blocks free, a count of a
//! drive's blocks that was meant for a plane, a buffer that holds all data.

use super::config::RunConfig;
use crate::config::{ShareOrCount, number};
use crate::flash::geometry::Geometry;
use copyback_workload::units::format_bytes;

impl RunConfig {
    /// The notes on settings that are large or small for this drive.
    pub(crate) fn notes_of_sizes(&self) -> Vec<String> {
        self.note_of_watermark().into_iter().chain(self.note_of_scope()).chain(self.note_of_buffer()).collect()
    }

    /// The watermarks that are counts of blocks, by key: those at which collection starts and stops. Merges have none.
    pub fn counts_of_blocks(&self) -> impl Iterator<Item = (&'static str, u32)> {
        let watermarks = self.trigger.watermarks();
        let all = [("trigger.soft", Some(watermarks.soft)), ("trigger.stop", watermarks.stop)];
        let is_used = self.mapping.log_blocks().is_none();
        all.into_iter().filter(move |_| is_used).filter_map(|(key, watermark)| match watermark? {
            ShareOrCount::Blocks(blocks) => Some((key, blocks)),
            ShareOrCount::Share(_) => None,
        })
    }

    /// The note that a watermark of a die or of the drive counts fewer blocks than this has planes: a count that was
    /// meant for a plane.
    fn note_of_scope(&self) -> Option<String> {
        let scope = self.trigger.watermarks().scope;
        let planes = scope.planes(&self.geometry);
        let (key, blocks) = self.counts_of_blocks().find(|(_, blocks)| *blocks < planes)?;
        let share = share_of(blocks, self.geometry.blocks_per_plane);
        Some(format!(
            "`{key} = {blocks}` counts blocks of {}, which has {planes} planes: writes wait for space before collection \
             starts; for {blocks} blocks of each plane, set the share {share}",
            scope.noun()
        ))
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

/// A short share that is this count of all blocks, and at most 1 % less of more blocks.
fn share_of(blocks: u32, of: u32) -> String {
    let exact = f64::from(blocks) / f64::from(of);
    let rounded_down = |digits: i32| (exact * 10f64.powi(digits)).floor() / 10f64.powi(digits);
    let is_near = |share: &f64| *share >= 0.99 * exact && ShareOrCount::Share(*share).of(of) == blocks;
    number((1..).map(rounded_down).find(is_near).expect("enough digits are as near as is wanted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_the_count_in_any_scope() {
        for of in [8, 24, 96, 100, 511, 512, 2_048, 65_536] {
            for blocks in (1..of).step_by(1 + of as usize / 97) {
                let share = ShareOrCount::Share(share_of(blocks, of).parse().expect("a number"));
                assert_eq!(share.of(of), blocks, "{blocks} of {of}: {share:?}");
                let (planes, exact) = (128, 128.0 * f64::from(blocks));
                assert!(
                    (f64::from(share.of(planes * of)) - exact).abs() <= 0.01 * exact,
                    "{blocks} of {of}: {share:?}"
                );
            }
        }
    }
}
