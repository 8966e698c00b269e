//! The layout `packed`: extents of files and devices lie on the drive in the order of their first use.

use crate::devices::SelectedDevice;
use crate::spec::Device;
use crate::units::{counted, format_bytes};
use crate::{Error, Request, RequestSource};
use std::collections::{HashMap, VecDeque};

/// The size of the pieces in which files are laid out on the drive, as a file system's allocator would.
const EXTENT_BYTES: u64 = 1 << 20;

/// Largest number of packed extents: 4 TiB. Each takes memory, and a few requests with damaged lengths could fill it.
const EXTENTS_MAX: u64 = 1 << 22;

/// The note on a layout that changed no address.
pub(crate) const LAYOUT_WITHOUT_EFFECT: &str =
    "`workload.layout` has no effect: each address is where the trace has it";

/// Places the extents of every device on the drive, in the order of their first use.
pub(crate) struct Packed<S> {
    inner: S,
    /// Only looked up, never iterated, so that its order cannot affect a result.
    places: HashMap<(u32, u64), u64>,
    /// The selected device, if there is one: only its extents get space.
    only: SelectedDevice,
    laid_out: u64,
    split_count: u64,
    /// Whether an address on the drive differs from the trace's.
    has_moved: bool,
    /// Whether a setting selected the layout; otherwise, the trace's format did.
    is_requested: bool,
    pending: VecDeque<Request>,
}

impl<S> Packed<S> {
    pub(crate) fn new(inner: S, only: Option<Device>) -> Self {
        Self {
            inner,
            places: HashMap::new(),
            only: SelectedDevice::new(only),
            laid_out: 0,
            split_count: 0,
            has_moved: false,
            is_requested: false,
            pending: VecDeque::new(),
        }
    }

    /// The same layout, selected by a setting: the trace's format keeps addresses by default.
    pub(crate) fn requested(self) -> Self {
        Self { is_requested: true, ..self }
    }

    fn place(&mut self, device: u32, extent: u64) -> Result<u64, Error> {
        let next = self.places.len() as u64;
        if let Some(place) = self.places.get(&(device, extent)) {
            return Ok(*place);
        }
        if next == EXTENTS_MAX {
            return Err(self.too_many());
        }
        self.places.insert((device, extent), next);
        Ok(next)
    }

    #[cold]
    fn too_many(&self) -> Error {
        let (index, most) = (self.laid_out, format_bytes(EXTENTS_MAX * EXTENT_BYTES));
        Error::new(format!("request {index}: the trace's devices or files cover more than {most}, too much to pack"))
            .with_help("select one with `device`, or set `layout = \"as-is\"` to keep the trace's addresses")
    }

    /// Cuts a request at the borders of extents that are not neighbours on the drive.
    fn lay_out(&mut self, request: Request) -> Result<(), Error> {
        let mut at = request.offset_bytes;
        let end = request.offset_bytes + request.len_bytes;
        let before = self.pending.len();
        while at < end {
            let extent = at / EXTENT_BYTES;
            let piece_end = end.min((extent + 1).saturating_mul(EXTENT_BYTES));
            let offset_bytes = self.place(request.device, extent)? * EXTENT_BYTES + at % EXTENT_BYTES;
            self.has_moved |= offset_bytes != at;
            let len_bytes = piece_end - at;
            let count = self.pending.len();
            match self.pending.back_mut() {
                Some(last) if count > before && last.offset_bytes + last.len_bytes == offset_bytes => {
                    last.len_bytes += len_bytes;
                }
                _ => self.pending.push_back(Request { offset_bytes, len_bytes, ..request }),
            }
            at = piece_end;
        }
        self.split_count += u64::from(self.pending.len() > before + 1);
        Ok(())
    }
}

impl<S: RequestSource> RequestSource for Packed<S> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        if self.pending.is_empty() {
            let Some(request) = self.inner.next_request()? else { return Ok(None) };
            if !self.only.keeps(request.device, &self.inner) {
                // Returned unchanged: the selection of devices omits and counts it.
                return Ok(Some(request));
            }
            self.laid_out += 1;
            self.lay_out(request)?;
        }
        Ok(self.pending.pop_front())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.inner.notes();
        let (extents, extent) = (counted(self.places.len() as u64, "extent"), format_bytes(EXTENT_BYTES));
        notes.push(format!("devices' or files' addresses packed into {extents} of {extent}, in order of first use"));
        if self.split_count > 0 {
            let split = counted(self.split_count, "request");
            notes.push(format!("{split} split at the border of extents"));
        }
        if self.is_requested && !self.has_moved {
            notes.push(LAYOUT_WITHOUT_EFFECT.to_owned());
        }
        notes
    }

    fn device_name(&self, device: u32) -> Option<String> {
        self.inner.device_name(device)
    }
}
