//! What stands between the host and the drives of an array: a volume, whose parts are handed to their drives and end
//! there, and its timers.

use super::{DELAY, REBUILD, Simulation};
use crate::array::{ArrayConfig, Volume};
use crate::host::config::Target;
use crate::host::splitter::Splitter;
use crate::run::RunError;
use crate::sim::index::RequestId;
use crate::sim::queue::Timer;
use crate::ssd::front::Completion;
use copyback_workload::Request;

/// An array of a run.
pub(super) struct Array {
    pub volume: Volume,
    /// Whether requests name drives, and not the volume.
    pub names_drives: bool,
}

impl Array {
    /// The drive on which a request begins, and the byte there.
    pub fn first_touched(&self, asked: &Request) -> (usize, u64) {
        if self.names_drives {
            return (asked.device as usize, asked.offset_bytes);
        }
        let layout = self.volume.layout();
        let place = layout.place(asked.offset_bytes);
        (layout.drive(place.stripe, place.member) as usize, layout.unit_start(place.stripe) + place.byte)
    }
}

impl Simulation<'_> {
    /// Puts a volume over the drives. Before the run starts.
    pub fn join(&mut self, config: &ArrayConfig) {
        assert_eq!(self.members.len(), config.drives as usize, "drives of the array");
        let geometries = || self.drives().map(|drive| drive.geometry());
        let drive_bytes = geometries().map(|geometry| geometry.logical_bytes()).min().unwrap_or(0);
        let grain_bytes = geometries().map(|geometry| u64::from(geometry.unit_bytes)).max().unwrap_or(1);
        let volume = Volume::new(config, drive_bytes, grain_bytes, self.check);
        // Drives write parity and copies, too, which the host did not.
        self.counts_submitted |= volume.layout().is_protected();
        let names_drives = self.host.target == Target::Drive;
        if volume.rebuilds_drives() {
            self.events.schedule(REBUILD, 0);
        }
        self.array = Some(Box::new(Array { volume, names_drives }));
    }

    /// The volume, where there is one.
    pub fn volume(&self) -> Option<&Volume> {
        self.array.as_ref().map(|array| &array.volume)
    }

    /// Mapping units that the host can write.
    pub(super) fn units_held(&self) -> u64 {
        match &self.array {
            Some(array) if !array.names_drives => {
                let unit_bytes = self.drives().next().map_or(1, |drive| u64::from(drive.geometry().unit_bytes));
                array.volume.layout().capacity_bytes() / unit_bytes
            }
            _ => self.drives().map(|drive| u64::from(drive.geometry().logical_units)).sum(),
        }
    }

    fn array_mut(&mut self) -> &mut Array {
        self.array.as_mut().expect("there is an array")
    }

    /// Whether parts have begun that their drives were not handed.
    #[inline]
    pub(super) fn has_parts(&self) -> bool {
        self.array.as_ref().is_some_and(|array| array.volume.has_parts())
    }

    /// Drives that collect now, a bit each, where somebody wants to know.
    fn collecting(&self) -> u64 {
        if !self.array.as_ref().is_some_and(|array| array.volume.is_gc_aware()) {
            return 0;
        }
        let collects = |(at, member): (usize, &super::Member)| u64::from(member.ssd.drive().has_jobs()) << at;
        self.members.iter().enumerate().map(collects).sum()
    }

    /// A request of the host begins, on the volume or on the drive that it names.
    #[inline(never)]
    pub(super) fn begin_in_array(&mut self, asked: Request, arrival_ns: u64) -> Result<(), RunError> {
        let target = self.array_mut().names_drives.then_some(asked.device);
        let capacity_bytes = match target.map(|drive| self.members.get(drive as usize)) {
            None => self.array_mut().volume.layout().capacity_bytes(),
            Some(Some(member)) => member.ssd.drive().geometry().logical_bytes(),
            Some(None) => return Err(self.no_such_drive(&asked)),
        };
        self.check_fits(&asked, capacity_bytes)?;
        let was_held = self.members.iter().all(|member| arrival_ns < member.held_until_ns);
        let id = self.add(asked, arrival_ns, was_held);
        let (collecting, now_ns) = (self.collecting(), self.events.now_ns());
        let volume = &mut self.array.as_mut().expect("there is an array").volume;
        let due_ns = volume.begin(id, &self.requests[id], target, collecting, now_ns);
        if let Some(due_ns) = due_ns.filter(|_| !self.events.is_pending(DELAY)) {
            self.events.schedule(DELAY, due_ns);
        }
        self.begin_parts();
        Ok(())
    }

    /// Whether a part is of what the host writes: neither parity nor another copy.
    #[inline(never)]
    pub(super) fn is_of_host(&self, part: RequestId) -> bool {
        self.volume().is_some_and(|volume| volume.part(part).is_data)
    }

    /// A timer of the array came up.
    #[cold]
    pub(super) fn on_array_timer(&mut self, timer: Timer) {
        let (collecting, now_ns) = (self.collecting(), self.events.now_ns());
        let volume = &mut self.array_mut().volume;
        if timer == DELAY {
            if let Some(due_ns) = volume.on_delay(collecting, now_ns) {
                self.events.schedule(DELAY, due_ns);
            }
        } else {
            volume.on_rebuild_due(now_ns);
        }
        self.begin_parts();
    }

    /// Hands parts that have begun to their drives.
    pub(super) fn begin_parts(&mut self) {
        while let Some(id) = self.array.as_mut().and_then(|array| array.volume.next_part()) {
            let part = *self.volume().expect("there is a volume").part(id);
            let member = &mut self.members[part.drive as usize];
            let geometry = member.ssd.drive().geometry();
            let splitter = Splitter::new(&part.asked, geometry.unit_bytes, geometry.units_per_logical_page);
            member.ssd.begin(id, part.arrival_ns, part.asked.priority, part.number);
            self.line_up(part.drive as usize, id, splitter);
        }
        self.has_to_hand_over = !self.held.is_empty();
    }

    /// A drive is done with a part.
    #[cold]
    #[inline(never)]
    pub(super) fn end_part(&mut self, completion: &Completion) {
        let now_ns = self.events.now_ns();
        let volume = &mut self.array_mut().volume;
        let ended = volume.on_part_end(completion.request, completion.gc_affected, &completion.breakdown_ns, now_ns);
        let (has_parts, rebuild_due_ns) = (volume.has_parts(), volume.take_rebuild_due());
        self.has_to_hand_over |= has_parts;
        if let Some(ended) = ended {
            self.end_request(ended.request, ended.gc_affected, &ended.breakdown_ns);
        }
        // A rebuild serves nobody any more once the host is done.
        if let Some(due_ns) = rebuild_due_ns.filter(|_| self.next.is_some() || self.requests.live() > 0) {
            self.events.schedule(REBUILD, due_ns);
        }
    }
}
