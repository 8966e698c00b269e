//! A time window of a run for <https://ui.perfetto.dev>: flash commands by channel, die and
//! plane, requests with arrows to their commands, collections, and counters.

mod proto;
#[cfg(test)]
mod tests;

use super::{PerfettoOptions, Span, Window};
use copyback::flash::Carries;
use copyback::flash::command::FlashOp;
use copyback::flash::geometry::Geometry;
use copyback::observe::commands::{CommandRecord, PartRecord};
use copyback::observe::report::{ALL_CAUSES, GcEvent, Outcome, RequestRecord, Sample};
use copyback::observe::timeline::op_word;
use copyback::sim::index::DieId;
use copyback_lab::Failure;
use copyback_lab::plan::Plan;
use copyback_lab::tables::op_name;
use copyback_workload::units::{format_bytes, format_duration_ns};
use prost::Message;
use proto::{
    ChildTracksOrdering, CounterDescriptor, DebugAnnotation, ProcessDescriptor, Trace, TracePacket, TrackDescriptor,
    TrackEvent, Type,
};
use std::path::Path;

/// The default length of the trace.
const FOR_NS: u64 = 100_000_000;

/// A requested trace.
pub struct PerfettoTrace<'a> {
    path: &'a Path,
    geometry: Geometry,
    /// The time window.
    pub window: Window,
}

impl<'a> PerfettoTrace<'a> {
    /// The requested trace, if there is one. A run of several drives is refused.
    pub fn new(options: &'a PerfettoOptions, plan: &Plan) -> Result<Option<Self>, Failure> {
        let Some(path) = options.path.as_deref() else { return Ok(None) };
        let planned = &plan.runs[0];
        if planned.members.len() > 1 {
            return Err(Failure::input("--perfetto: the run is of several drives, but a trace shows only one")
                .with_help("leave --array out; --microscope draws when the drives of an array collect"));
        }
        let for_ns = options.for_ns.unwrap_or(FOR_NS);
        if for_ns == 0 {
            return Err(Failure::input("--perfetto-for: the time is zero").with_help("name a time such as \"100 ms\""));
        }
        let from = |from_ns: u64| Span { from_ns, to_ns: from_ns.saturating_add(for_ns), request: None };
        let window = match (options.around, options.from_ns) {
            (Some(slowest), _) => Window::Around(slowest),
            (None, Some(from_ns)) => Window::Span(from(from_ns)),
            (None, None) if plan.warmup.is_none() => Window::Span(from(0)),
            (None, None) => Window::Measured { for_ns },
        };
        Ok(Some(Self { path, geometry: Geometry::new(&planned.resolved.run.device()), window }))
    }

    /// The output path.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The trace.
    pub fn encoded(&self, span: Span, outcome: &Outcome) -> Vec<u8> {
        encoded(&self.geometry, span, outcome)
    }
}

fn encoded(geometry: &Geometry, span: Span, outcome: &Outcome) -> Vec<u8> {
    let mut writer = Writer { span, encoded: Vec::new(), next_uuid: 1 };
    writer.requests(&outcome.requests);
    writer.counters(&outcome.series);
    writer.flash(geometry, &outcome.commands, &outcome.gc_events);
    writer.encoded
}

/// A slice of one track.
struct Slice {
    start_ns: u64,
    end_ns: u64,
    name: String,
    category: &'static str,
    /// Numbers of the requests that it serves; for a request's own slice, the number of this request.
    flows: Vec<u64>,
    annotations: Vec<(&'static str, AnnotationValue)>,
}

/// The value of an annotation of a slice.
enum AnnotationValue {
    Number(u64),
    Text(String),
}

struct Writer {
    span: Span,
    /// The packets so far. A trace is the concatenation of its packets, which take a tenth of the memory when encoded.
    encoded: Vec<u8>,
    next_uuid: u64,
}

/// All packets belong to one sequence. The first packet is marked as its start.
const SEQUENCE: u32 = 1;
const SEQUENCE_BEGINS: u32 = 1;

impl Writer {
    fn packet(&mut self, packet: TracePacket) {
        let sequence_flags = self.encoded.is_empty().then_some(SEQUENCE_BEGINS);
        let packet = TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), sequence_flags, ..packet };
        self.encoded.append(&mut Trace { packet: vec![packet] }.encode_to_vec());
    }

    /// A track, below another if one is named; the tracks below it stand in the order of their ranks.
    fn track(&mut self, parent: Option<u64>, rank: usize, of: TrackDescriptor) -> u64 {
        let uuid = self.next_uuid;
        self.next_uuid += 1;
        let track = TrackDescriptor {
            uuid: Some(uuid),
            parent_uuid: parent,
            child_ordering: Some(ChildTracksOrdering::Explicit as i32),
            sibling_order_rank: Some(rank as i32),
            ..of
        };
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() });
        uuid
    }

    fn named(&mut self, parent: u64, rank: usize, name: impl Into<String>) -> u64 {
        self.track(Some(parent), rank, TrackDescriptor { name: Some(name.into()), ..TrackDescriptor::default() })
    }

    fn process(&mut self, pid: i32, name: &str) -> u64 {
        let process = ProcessDescriptor { pid: Some(pid), process_name: Some(name.to_owned()) };
        let track =
            TrackDescriptor { process: Some(process), name: Some(name.to_owned()), ..TrackDescriptor::default() };
        self.track(None, pid as usize, track)
    }

    /// Slices below a track, on several lanes if they overlap.
    fn lanes(&mut self, parent: u64, name: &str, mut slices: Vec<Slice>) {
        slices.retain(|slice| slice.end_ns > self.span.from_ns && slice.start_ns < self.span.to_ns);
        slices.sort_by_key(|slice| (slice.start_ns, slice.end_ns));
        let mut lanes: Vec<(u64, u64)> = Vec::new();
        for slice in slices {
            let free = lanes.iter().position(|(_, busy_until_ns)| *busy_until_ns <= slice.start_ns);
            let at = free.unwrap_or_else(|| {
                let name = if lanes.is_empty() { name.to_owned() } else { format!("{name} {}", lanes.len() + 1) };
                lanes.push((self.named(parent, lanes.len(), name), 0));
                lanes.len() - 1
            });
            lanes[at].1 = slice.end_ns;
            self.slice(lanes[at].0, slice);
        }
    }

    fn slice(&mut self, track: u64, slice: Slice) {
        let annotation = |(name, value): (&str, AnnotationValue)| {
            let (uint_value, string_value) = match value {
                AnnotationValue::Number(number) => (Some(number), None),
                AnnotationValue::Text(text) => (None, Some(text)),
            };
            DebugAnnotation { name: Some(name.to_owned()), uint_value, string_value }
        };
        let begin = TrackEvent {
            r#type: Some(Type::SliceBegin as i32),
            track_uuid: Some(track),
            name: Some(slice.name),
            categories: vec![slice.category.to_owned()],
            // Flow 0 means no flow.
            flow_ids: slice.flows.into_iter().map(|request| request + 1).collect(),
            debug_annotations: slice.annotations.into_iter().map(annotation).collect(),
            ..TrackEvent::default()
        };
        let end = TrackEvent { r#type: Some(Type::SliceEnd as i32), track_uuid: Some(track), ..TrackEvent::default() };
        for (at_ns, event) in [(slice.start_ns, begin), (slice.end_ns, end)] {
            self.packet(TracePacket { timestamp: Some(at_ns), track_event: Some(event), ..TracePacket::default() });
        }
    }

    /// Requests of the host, each with where its time went.
    fn requests(&mut self, requests: &[RequestRecord]) {
        let host = self.process(1, "host");
        let slice = |request: &RequestRecord| {
            let op = op_name(request.op);
            let causes = ALL_CAUSES.into_iter().filter(|cause| request.breakdown_ns[*cause as usize] > 0);
            let mut annotations = vec![
                ("request", AnnotationValue::Number(request.index)),
                ("offset_bytes", AnnotationValue::Number(request.offset_bytes)),
                ("gc_affected", AnnotationValue::Text(request.gc_affected.to_string())),
            ];
            annotations.extend(
                causes.map(|cause| (cause.name(), AnnotationValue::Number(request.breakdown_ns[cause as usize]))),
            );
            Slice {
                start_ns: request.arrival_ns,
                end_ns: request.arrival_ns + request.response_ns,
                name: format!("{op} {}", format_bytes(request.len_bytes)),
                category: op,
                flows: vec![request.index],
                annotations,
            }
        };
        self.lanes(host, "requests", requests.iter().map(slice).collect());
    }

    fn counters(&mut self, series: &[Sample]) {
        type Value = fn(&Sample) -> f64;
        let counters: [(&str, &str, Value); 4] = [
            ("requests in the drive", "requests", |s| s.queue_depth.into()),
            ("dies collecting", "dies", |s| s.dies_collecting.into()),
            ("free blocks, fewest of a plane", "blocks", |s| s.free_blocks_min.into()),
            ("free blocks, mean of planes", "blocks", |s| s.free_blocks_mean),
        ];
        let state = self.process(2, "state");
        // The last value before the span is that at its beginning.
        let Span { from_ns, to_ns, .. } = self.span;
        let before = series.iter().rposition(|sample| sample.time_ns <= from_ns).unwrap_or(0);
        for (rank, (name, unit, value)) in counters.into_iter().enumerate() {
            let counter = Some(CounterDescriptor { unit_name: Some(unit.to_owned()) });
            let track = TrackDescriptor { name: Some(name.to_owned()), counter, ..TrackDescriptor::default() };
            let track = self.track(Some(state), rank, track);
            for sample in series[before.min(series.len())..].iter().take_while(|s| s.time_ns < to_ns) {
                let event = TrackEvent {
                    r#type: Some(Type::Counter as i32),
                    track_uuid: Some(track),
                    double_counter_value: Some(value(sample)),
                    ..TrackEvent::default()
                };
                let timestamp = Some(sample.time_ns.max(from_ns));
                self.packet(TracePacket { timestamp, track_event: Some(event), ..TracePacket::default() });
            }
        }
    }

    /// Channels, and below each its dies: their collections, their commands, and the arrays of their planes.
    fn flash(&mut self, geometry: &Geometry, commands: &[CommandRecord], collections: &[GcEvent]) {
        let drive = self.process(3, "flash");
        for channel in 0..geometry.channels {
            let of_channel = |die: u32| geometry.channel_of(DieId(die)).0 == channel;
            let on_channel = || commands.iter().filter(|command| of_channel(command.die));
            let track = self.named(drive, channel as usize, format!("channel {channel}"));
            self.lanes(track, "transfers", on_channel().flat_map(transfers).collect());
            for (rank, die) in (0..geometry.dies).filter(|die| of_channel(*die)).enumerate() {
                let track = self.named(track, rank + 1, format!("die {die}"));
                let collections = collections.iter().filter(|event| event.die == die).map(collection).collect();
                self.lanes(track, "collections", collections);
                let own = || on_channel().filter(|command| command.die == die);
                self.lanes(track, "commands", own().map(command).collect());
                for plane in geometry.planes_of(DieId(die)) {
                    let parts = own().filter_map(|c| Some((c, c.parts.iter().find(|p| p.plane == plane.0)?)));
                    let slices =
                        parts.flat_map(|(c, p)| c.array_times_ns.iter().map(|&times_ns| array(c, p, times_ns)));
                    self.lanes(track, &format!("plane {}", plane.0), slices.collect());
                }
            }
        }
    }
}

fn collection(event: &GcEvent) -> Slice {
    Slice {
        start_ns: event.start_ns,
        end_ns: event.end_ns,
        name: format!("block {}", event.block),
        category: "collection",
        flows: Vec::new(),
        annotations: vec![
            ("plane", AnnotationValue::Number(event.plane.into())),
            ("units_valid", AnnotationValue::Number(event.units_valid.into())),
            ("free_blocks", AnnotationValue::Number(event.free_blocks.into())),
        ],
    }
}

/// A command's name: the source of one plane's part, and the operation.
fn name_of(op: FlashOp, part: &PartRecord) -> String {
    format!("{} {}", part.source.name(), op_word(op))
}

fn command(command: &CommandRecord) -> Slice {
    let first = &command.parts[0];
    let planes: Vec<String> = command.parts.iter().map(|part| part.plane.to_string()).collect();
    let array = command.array_times_ns.iter().map(|(start_ns, end_ns)| end_ns - start_ns).sum();
    Slice {
        start_ns: command.issued_ns,
        end_ns: command.end_ns(),
        name: name_of(command.op, first),
        category: first.source.name(),
        flows: command.parts.iter().filter_map(|part| part.request).collect(),
        annotations: vec![
            ("command", AnnotationValue::Number(command.number)),
            ("planes", AnnotationValue::Text(planes.join(", "))),
            ("array", AnnotationValue::Text(format_duration_ns(array))),
        ],
    }
}

/// A time of the array on a plane.
fn array(command: &CommandRecord, part: &PartRecord, (start_ns, end_ns): (u64, u64)) -> Slice {
    Slice {
        start_ns,
        end_ns,
        name: name_of(command.op, part),
        category: part.source.name(),
        flows: Vec::new(),
        annotations: vec![
            ("command", AnnotationValue::Number(command.number)),
            ("block", AnnotationValue::Number(part.block.into())),
            ("page", AnnotationValue::Number(part.page.into())),
        ],
    }
}

/// A command's times on its channel.
fn transfers(command: &CommandRecord) -> Vec<Slice> {
    let slice = |transfer: &copyback::observe::commands::Transfer| {
        let what = match transfer.carries {
            Carries::Cycles => "cycles",
            Carries::DataIn => "data in",
            Carries::DataOut { .. } => "data out",
        };
        Slice {
            start_ns: transfer.start_ns,
            end_ns: transfer.end_ns,
            name: format!("{what}, die {}", command.die),
            category: command.parts[0].source.name(),
            flows: Vec::new(),
            annotations: vec![("command", AnnotationValue::Number(command.number))],
        }
    };
    command.transfers.iter().map(slice).collect()
}
