//! The region of a job: its first byte, its size, and its amount.

use super::{BytesOrShare, Job};
use crate::failure::Failure;

impl Job {
    /// The size of a clone's region: bytes of its file, or a share of the drive. `filesize` limits its end.
    pub fn part_size(&self, clone: u64) -> Option<BytesOrShare> {
        match (self.whole_size()?, self.extent.file_bytes, self.file_offset_of(clone)) {
            (BytesOrShare::Bytes(bytes), Some(file), Some(offset)) => {
                Some(BytesOrShare::Bytes(bytes.min(file.saturating_sub(offset))))
            }
            (part, ..) => Some(part),
        }
    }

    /// The size of a file of its own, if it is known in bytes.
    fn file_size(&self) -> Option<u64> {
        match (self.extent.file_bytes, self.extent.size) {
            (Some(bytes), _) | (None, Some(BytesOrShare::Bytes(bytes))) => Some(bytes),
            (None, _) => None,
        }
    }

    /// Whether the start of the job is a share of its file.
    pub fn begins_at_share(&self) -> bool {
        [Some(self.extent.offset), self.extent.increment]
            .iter()
            .any(|part| matches!(part, Some(BytesOrShare::Share(_))))
    }

    /// The size of a region that begins at the start of the file.
    fn whole_size(&self) -> Option<BytesOrShare> {
        match (self.extent.fills_device, self.extent.file_bytes) {
            (true, _) => None,
            // A share of a file is a part of it.
            (false, Some(bytes)) => Some(BytesOrShare::Bytes(match self.extent.size {
                Some(BytesOrShare::Share(share)) => (bytes as f64 * share) as u64,
                _ => bytes,
            })),
            (false, None) => self.extent.size,
        }
    }

    /// The amount of a clone, if it differs from its region: bytes, or a share of the region.
    pub fn amount(&self, clone: u64) -> Option<BytesOrShare> {
        match (self.extent.io_size, self.extent.file_bytes, self.extent.size, self.part_size(clone)) {
            (Some(amount), ..) => Some(amount),
            // fio cuts the size to what the file has behind the offset.
            (None, Some(_), Some(BytesOrShare::Bytes(size)), Some(BytesOrShare::Bytes(part))) => {
                Some(BytesOrShare::Bytes(size.min(part)))
            }
            (None, ..) => None,
        }
    }

    /// The start of a clone's region; `None` if `offset` and `offset_increment` are bytes and a share.
    pub fn offset_of(&self, clone: u64) -> Option<BytesOrShare> {
        match (self.extent.offset, self.extent.increment) {
            (offset, None) => Some(offset),
            (BytesOrShare::Bytes(offset), Some(BytesOrShare::Bytes(more))) => {
                Some(BytesOrShare::Bytes(offset.saturating_add(more.saturating_mul(clone))))
            }
            (BytesOrShare::Share(offset), Some(BytesOrShare::Share(more))) => {
                Some(BytesOrShare::Share(offset + more * clone as f64))
            }
            (BytesOrShare::Bytes(0), Some(BytesOrShare::Share(more))) => Some(BytesOrShare::Share(more * clone as f64)),
            (_, Some(_)) => None,
        }
    }

    /// The start in bytes in a file of its own. Shares count from the size of the file, whatever part of it the job
    /// uses. Such a start is rounded up to `offset_align`, or to the smallest block of all operations, as in fio 3.33.
    pub fn file_offset_of(&self, clone: u64) -> Option<u64> {
        let bytes = |part: BytesOrShare| match part {
            BytesOrShare::Bytes(bytes) => Some(bytes),
            BytesOrShare::Share(share) => Some((self.file_size()? as f64 * share) as u64),
        };
        let more = self.extent.increment.map_or(Some(0), bytes)?;
        let start = bytes(self.extent.offset)?.saturating_add(more.saturating_mul(clone));
        match self.begins_at_share() {
            true => start.checked_next_multiple_of(self.extent.offset_align.unwrap_or(self.least_of_all()).max(1)),
            false => Some(start),
        }
    }

    /// Refuses holes backwards in a job that does not begin at the start of its file.
    pub(super) fn refuse_holes_behind_offset(&self) -> Result<(), Failure> {
        let has_moved_clones = self.extent.increment.is_some() && self.schedule.count > 1;
        let begins_later = self.extent.offset != BytesOrShare::Bytes(0) || has_moved_clones;
        if self.pattern.is_random || self.pattern.modifier.skip_bytes >= 0 || !begins_later {
            return Ok(());
        }
        let message = "with holes backwards, fio 3.33 begins `offset` bytes before the end of the file, not at the \
                       offset; this order is not simulated";
        let names: &[&str] = &["offset", "offset_increment"];
        Err(self.at(names).wrong(message, "remove the offset, or what follows the colon of rw"))
    }
}
