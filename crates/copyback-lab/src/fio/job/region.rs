//! The region of a job: its first byte, its size, and its amount.

use super::{Job, Part};

impl Job {
    /// The size of a clone's region: bytes of its file, or a share of the drive. `filesize` limits its end.
    pub fn part_size(&self, clone: u64) -> Option<Part> {
        match (self.whole_size()?, self.extent.file_bytes, self.file_offset_of(clone)) {
            (Part::Bytes(bytes), Some(file), Some(offset)) => Some(Part::Bytes(bytes.min(file.saturating_sub(offset)))),
            (part, ..) => Some(part),
        }
    }

    /// The size of a region that begins at the start of the file.
    fn whole_size(&self) -> Option<Part> {
        match (self.extent.fills_device, self.extent.file_bytes) {
            (true, _) => None,
            // A share of a file is a part of it.
            (false, Some(bytes)) => Some(Part::Bytes(match self.extent.size {
                Some(Part::Share(share)) => (bytes as f64 * share) as u64,
                _ => bytes,
            })),
            (false, None) => self.extent.size,
        }
    }

    /// The amount of a clone, if it differs from its region: bytes, or a share of the region.
    pub fn amount(&self, clone: u64) -> Option<Part> {
        match (self.extent.io_size, self.extent.file_bytes, self.extent.size, self.part_size(clone)) {
            (Some(amount), ..) => Some(amount),
            // fio cuts the size to what the file has behind the offset.
            (None, Some(_), Some(Part::Bytes(size)), Some(Part::Bytes(part))) => Some(Part::Bytes(size.min(part))),
            (None, ..) => None,
        }
    }

    /// The start of a clone's region; `None` if `offset` and `offset_increment` are bytes and a share.
    pub fn offset_of(&self, clone: u64) -> Option<Part> {
        match (self.extent.offset, self.extent.increment) {
            (offset, None) => Some(offset),
            (Part::Bytes(offset), Some(Part::Bytes(more))) => {
                Some(Part::Bytes(offset.saturating_add(more.saturating_mul(clone))))
            }
            (Part::Share(offset), Some(Part::Share(more))) => Some(Part::Share(offset + more * clone as f64)),
            (Part::Bytes(0), Some(Part::Share(more))) => Some(Part::Share(more * clone as f64)),
            (_, Some(_)) => None,
        }
    }

    /// The start in bytes of a file of its own; a share counts from the file's size.
    pub fn file_offset_of(&self, clone: u64) -> Option<u64> {
        match (self.offset_of(clone)?, self.whole_size()) {
            (Part::Bytes(offset), _) => Some(offset),
            (Part::Share(share), Some(Part::Bytes(size))) => {
                let offset = (size as f64 * share) as u64;
                Some(offset - offset % self.used(|op| self.sizes.blocks[op].least()).min().unwrap_or(1))
            }
            (Part::Share(_), _) => None,
        }
    }
}
