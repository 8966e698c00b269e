//! A block request, and the sources of requests.

/// Latest arrival that a run accepts: half of what 64 bits hold, 292 years. All times that follow from it can then be
/// represented.
pub const ARRIVAL_MAX_NS: u64 = 1 << 63;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// Read `len_bytes` from `offset_bytes`.
    Read,
    /// Write `len_bytes` at `offset_bytes`.
    Write,
    /// Forget `len_bytes` at `offset_bytes` (ATA TRIM, NVMe deallocate, SCSI unmap).
    Trim,
}

/// How urgent a request is; a scheme may treat [`Priority::High`] differently (ispass11, state 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Priority {
    /// Not urgent.
    #[default]
    Normal,
    /// Marked urgent by the workload.
    High,
}

/// One block request of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Arrival time in nanoseconds since the workload's start. A closed-loop host ignores it.
    pub arrival_ns: u64,
    /// First byte, counted from the start of the device.
    pub offset_bytes: u64,
    /// Length in bytes, never zero.
    pub len_bytes: u64,
    /// The device, volume or LUN of the trace (0 if the format has only one).
    pub device: u32,
    /// The operation.
    pub op: Op,
    /// How urgent it is.
    pub priority: Priority,
}

/// A source of requests, in the order of their arrival, one at a time.
pub trait RequestSource {
    /// The next request, `None` at the end. Callers stop after the end or an error.
    fn next_request(&mut self) -> Result<Option<Request>, crate::Error>;

    /// Notes to the user about the records read so far: the detected format, assumptions, how many records were
    /// skipped, moved or omitted. Complete at the source's end.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The trace's name of a device, if it has one in addition to the number: `259,0` of Linux, the name of a disk or a
    /// file.
    fn device_name(&self, _device: u32) -> Option<String> {
        None
    }
}

/// A source that returns the requests of a list.
impl RequestSource for std::vec::IntoIter<Request> {
    fn next_request(&mut self) -> Result<Option<Request>, crate::Error> {
        Ok(self.next())
    }
}

impl<S: RequestSource + ?Sized> RequestSource for Box<S> {
    fn next_request(&mut self) -> Result<Option<Request>, crate::Error> {
        (**self).next_request()
    }

    fn notes(&self) -> Vec<String> {
        (**self).notes()
    }

    fn device_name(&self, device: u32) -> Option<String> {
        (**self).device_name(device)
    }
}
