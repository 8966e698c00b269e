//! The measures of an array in addition to its volume's requests: the times of parts on drives, their collections, and
//! the work since the measurement began. On request, the events of a time window are recorded in full.

use super::Simulation;
use crate::array::DriveRequest;
use crate::array::coordination::{Controller, Round};
use crate::host::HostRequest;
use crate::observe::array_report::{ArrayReport, CoordinationTotals, DriveReport, RoundTotals, VolumeTotals};
use crate::observe::latencies::Latencies;
use crate::observe::microscope::{Focus, MicroscopeView, Recorder};
use crate::ssd::back_end::BackEnd;
use copyback_workload::Op;

/// See the module's page.
pub(super) struct Measures {
    /// Of each drive the response times of its parts: reads, writes.
    parts: Vec<[Latencies; 2]>,
    collecting: Collecting,
    /// The counters when the measurement began.
    volume: VolumeTotals,
    rounds: RoundTotals,
    coordination: Vec<CoordinationTotals>,
    /// The recorder of a time window, if requested.
    microscope: Option<Box<Recorder>>,
}

/// The number of drives that collect, over time.
struct Collecting {
    collects: Vec<bool>,
    count: usize,
    since_ns: u64,
    /// By number of drives: the time in which so many collected.
    time_ns: Vec<u64>,
    /// Periods in which at least one drive collects.
    windows: u64,
}

impl Collecting {
    fn settle(&mut self, now_ns: u64) {
        self.time_ns[self.count] += now_ns - std::mem::replace(&mut self.since_ns, now_ns);
    }
}

impl Measures {
    pub fn new(drives: usize) -> Self {
        let collecting = Collecting {
            collects: vec![false; drives],
            count: 0,
            since_ns: 0,
            time_ns: vec![0; drives + 1],
            windows: 0,
        };
        Self {
            parts: (0..drives).map(|_| Default::default()).collect(),
            collecting,
            volume: VolumeTotals::default(),
            rounds: RoundTotals::default(),
            coordination: vec![CoordinationTotals::default(); drives],
            microscope: None,
        }
    }

    /// A part ends.
    pub fn note_part(&mut self, part: &DriveRequest, now_ns: u64) {
        if part.asked.op != Op::Trim {
            self.parts[part.drive as usize][part.asked.op as usize].record(now_ns - part.arrival_ns);
        }
        if let Some(microscope) = &mut self.microscope {
            microscope.note_response(Some(part.drive), part.asked.op, part.arrival_ns, now_ns);
        }
    }

    /// A request of the volume ends.
    pub fn note_request(&mut self, request: &HostRequest, now_ns: u64) {
        if let Some(microscope) = &mut self.microscope {
            microscope.note_response(None, request.asked.op, request.arrival_ns, now_ns);
        }
    }

    /// A round of coordinated collection ends.
    pub fn note_round(&mut self, round: &Round, now_ns: u64) {
        if let Some(microscope) = &mut self.microscope {
            microscope.note_round(round.drives, round.began_ns, now_ns);
        }
    }

    /// A drive collects on this many of its dies from now on.
    #[inline]
    pub fn note_collecting(&mut self, drive: usize, dies: u32, now_ns: u64) {
        if let Some(microscope) = &mut self.microscope {
            microscope.note_collecting(drive as u32, dies, now_ns);
        }
        let (collects, all) = (dies > 0, &mut self.collecting);
        if all.collects[drive] == collects {
            return;
        }
        all.settle(now_ns);
        all.collects[drive] = collects;
        if collects {
            all.windows += u64::from(all.count == 0);
            all.count += 1;
        } else {
            all.count -= 1;
        }
    }
}

impl Simulation<'_> {
    /// Records all that drives and volume do in a window; nothing without an array. Call it before the run starts, and
    /// after all other requests for measures: a window without a start begins at the end of the warm-up.
    pub fn record_window(&mut self, focus: Focus) {
        let dies: Vec<u32> = self.back_ends().map(|drive| drive.geometry().dies).collect();
        let warms_up = self.watch.is_some();
        let Some(array) = &mut self.array else { return };
        let mut recorder = Recorder::new(focus, dies);
        if !warms_up {
            recorder.begin(0);
        }
        array.measures.microscope = Some(Box::new(recorder));
    }

    /// The recording, at the end of the run; none if it was not requested.
    pub fn take_microscope(&mut self) -> Option<MicroscopeView> {
        let now_ns = self.events.now_ns();
        let array = self.array.as_mut()?;
        let mut recorder = array.measures.microscope.take()?;
        for round in array.controllers.iter().filter_map(Controller::round) {
            recorder.note_round(round.drives, round.began_ns, now_ns);
        }
        Some(recorder.end(!array.controllers.is_empty(), now_ns))
    }

    /// The measurement of the array begins now.
    #[cold]
    #[inline(never)]
    pub(super) fn restart_array(&mut self) {
        let now_ns = self.events.now_ns();
        let rounds = self.rounds().unwrap_or_default();
        let coordination = self.back_ends().map(|drive| drive.coordination_totals().unwrap_or_default()).collect();
        let Some(array) = &mut self.array else { return };
        let measures = &mut array.measures;
        measures.parts.iter_mut().for_each(|of_drive| *of_drive = Default::default());
        measures.collecting.settle(now_ns);
        measures.collecting.time_ns.fill(0);
        // A window in progress counts, too.
        measures.collecting.windows = u64::from(measures.collecting.count > 0);
        (measures.volume, measures.rounds, measures.coordination) = (array.volume.totals(), rounds, coordination);
        measures.microscope.iter_mut().for_each(|microscope| microscope.begin(now_ns));
    }

    /// The array and its drives, at the end of the run.
    pub fn array_report(&mut self) -> Option<ArrayReport> {
        let now_ns = self.events.now_ns();
        self.array.as_mut()?.measures.collecting.settle(now_ns);
        let array = self.array.as_ref()?;
        let measures = &array.measures;
        let passed_ns = (now_ns - self.start.now_ns).max(1) as f64;
        let drives = self.back_ends().zip(self.readings()).enumerate().map(|(at, (drive, did))| {
            let [read, write] = measures.parts[at].each_ref().map(Latencies::summary);
            let dies_ns = passed_ns * f64::from(drive.geometry().dies);
            DriveReport {
                drive: at as u32,
                seed: drive.ftl().seed(),
                read,
                write,
                units_written: did.work.host_units,
                collections: did.gc.collections,
                units_moved: did.gc.units,
                erases: did.work.block_erases,
                gc_share: did.held_by_gc_ns as f64 / dies_ns,
                busy_share: did.die_busy_ns as f64 / dies_ns,
                min_free_blocks: drive.min_free_blocks(),
                coordination: BackEnd::coordination_totals(drive)
                    .map(|now| now.zip(&measures.coordination[at], |now, then| now - then)),
            }
        });
        let drives: Vec<DriveReport> = drives.collect();
        let dies = |at: usize| f64::from(self.members[at].ssd.back_end().geometry().dies);
        // Failed drives are excluded, unless the run rebuilds them.
        let there = || drives.iter().enumerate().filter(|(at, _)| !array.volume.is_missing(*at as u32));
        let held: f64 = there().map(|(at, drive)| drive.gc_share * dies(at)).sum();
        let all_dies: f64 = there().map(|(at, _)| dies(at)).sum();
        let gc_shares = || there().map(|(_, drive)| drive.gc_share);
        let volume = array.volume.totals();
        let mut since = volume.zip(&measures.volume, |now, then| now - then);
        since.rebuilt_at_ns = volume.rebuilt_at_ns;
        Some(ArrayReport {
            level: array.volume.layout().level().name(),
            stripe_unit_bytes: array.volume.layout().unit_bytes(),
            units_lost: array.volume.units_lost(),
            volume: since,
            rounds: self.rounds().map(|now| now.zip(&measures.rounds, |now, then| now - then)),
            collecting_shares: measures.collecting.time_ns.iter().map(|&ns| ns as f64 / passed_ns).collect(),
            degraded_share: 1.0 - measures.collecting.time_ns[0] as f64 / passed_ns,
            gc_share: held / all_dies,
            gc_share_min: gc_shares().fold(f64::INFINITY, f64::min),
            gc_share_max: gc_shares().fold(0.0, f64::max),
            coordination: drives.iter().filter_map(|drive| drive.coordination).reduce(|a, b| a.zip(&b, |a, b| a + b)),
            degraded_windows: measures.collecting.windows,
            drives,
        })
    }
}
