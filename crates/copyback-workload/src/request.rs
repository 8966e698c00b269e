//! A block request, and the sources of requests.

/// What a request asks for.
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

/// How urgent a request is; a scheme may treat [`Priority::High`] apart (ispass11, state 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Priority {
    /// Served in its turn.
    #[default]
    Normal,
    /// Marked urgent by the workload.
    High,
}

/// One block request of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it arrives, in nanoseconds since the workload's start. A closed-loop host ignores it.
    pub arrival_ns: u64,
    /// First byte, counted from the start of the device.
    pub offset_bytes: u64,
    /// Length in bytes, never zero.
    pub len_bytes: u64,
    /// The device, volume or LUN of the trace (0 if the format knows only one).
    pub device: u32,
    /// What it asks for.
    pub op: Op,
    /// How urgent it is.
    pub priority: Priority,
}

/// Requests in the order of their arrival, handed out one at a time.
pub trait RequestSource {
    /// The next request, `None` at the end; after an error or the end it is not asked again.
    fn next_request(&mut self) -> Result<Option<Request>, crate::Error>;

    /// Notes to the user about the records read so far: the format found, the assumptions, how many records were
    /// skipped, moved or left out. Complete once the source has ended.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The source's name of a device that it has returned, if it has one in addition to its number: `259,0` of Linux, a
    /// disk's or a file's.
    fn device_name(&self, _device: u32) -> Option<String> {
        None
    }
}

/// Requests that are written down.
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
