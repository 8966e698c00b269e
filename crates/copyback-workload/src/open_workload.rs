//! Makes a source of requests from a table `[workload]`.

use crate::compact::{self, Compact};
use crate::packed::Packed;
use crate::readers::ReaderOptions;
use crate::spec::{BeyondCapacity, BlockAction, Format, Layout, WorkloadSpec, ZeroMeans};
use crate::synthetic::Generator;
use crate::trace::TraceSource;
use crate::transform::{Looped, Transformed};
use crate::{Error, RequestSource};

/// Opens a workload: a trace's reader or a generator, with its transformations.
///
/// `seed` is the run's, which a generator uses unless the spec has its own; `capacity_bytes` is the device's as the
/// host sees it (`u64::MAX` without a device; a generator then needs a footprint in bytes).
///
/// # Errors
/// If the spec is inconsistent, the trace cannot be opened or its format is not known.
pub fn open(spec: &WorkloadSpec, seed: u64, capacity_bytes: u64) -> Result<Box<dyn RequestSource + Send>, Error> {
    spec.check().map_err(|wrong| {
        let error = Error::new(format!("workload.{}: {}", wrong.key, wrong.message));
        match wrong.help {
            Some(help) => error.with_help(help),
            None => error,
        }
    })?;
    let passes = spec.passes.unwrap_or(1);
    if passes == 1 {
        return open_once(spec, seed, capacity_bytes);
    }
    let spec = spec.clone();
    Ok(Box::new(Looped::new(Box::new(move || open_once(&spec, seed, capacity_bytes)), passes)?))
}

fn open_once(spec: &WorkloadSpec, seed: u64, capacity_bytes: u64) -> Result<Box<dyn RequestSource + Send>, Error> {
    let Some(path) = &spec.trace else {
        let generator = Generator::new(spec, spec.seed.unwrap_or(seed), capacity_bytes)?;
        return Ok(Box::new(Transformed::new(generator, spec, seed, capacity_bytes)));
    };
    let options = ReaderOptions {
        format: spec.format.unwrap_or(Format::Auto),
        columns: spec.columns.clone().unwrap_or_default(),
        operations: spec.operations.clone().unwrap_or_default(),
        zero_means: spec.zero_means.unwrap_or(ZeroMeans::Auto),
        event: spec.event.unwrap_or(BlockAction::Issued),
        skip_bad: spec.skip_bad.unwrap_or(0),
    };
    let window = spec.reorder_window.map(|records| usize::try_from(records).unwrap_or(usize::MAX));
    let mut source = TraceSource::open(path, &options, window)?;
    source.note_unused(spec);
    let is_of_files = source.format().row().has_addresses_of_files;
    let layout = match spec.layout.unwrap_or(Layout::Auto) {
        Layout::Auto if is_of_files => Layout::Packed,
        layout => layout,
    };
    match layout {
        Layout::Auto | Layout::AsIs => {
            let laid_out = Transformed::new(source, spec, seed, capacity_bytes).sharing_addresses();
            Ok(Box::new(laid_out.may_be_compact().only_widening()))
        }
        Layout::Packed => {
            let packed = Packed::new(source, spec.device.clone());
            let packed = if is_of_files { packed } else { packed.requested() };
            Ok(Box::new(Transformed::new(packed, spec, seed, capacity_bytes).may_be_compact().only_widening()))
        }
        Layout::Compact => {
            let again = TraceSource::open(path, &options, window)?;
            Ok(Box::new(compact(source, again, spec, seed, capacity_bytes)))
        }
    }
}

/// A trace whose requests are selected before they are laid out: unselected requests take no space.
fn compact(
    source: TraceSource,
    again: TraceSource,
    spec: &WorkloadSpec,
    seed: u64,
    capacity_bytes: u64,
) -> Transformed<Compact<Transformed<TraceSource>>> {
    let selection = WorkloadSpec { device: spec.device.clone(), window: spec.window, ..WorkloadSpec::default() };
    let [source, again] = [source, again].map(|source| Transformed::new(source, &selection, seed, u64::MAX));
    // The run plays no more reads and writes than this, unless a later transformation omits some and later requests
    // replace them.
    let leaves_out = spec.beyond_capacity == Some(BeyondCapacity::Reject);
    let first = spec.first.filter(|_| !leaves_out).unwrap_or(u64::MAX);
    let unit_bytes = spec.align.map_or(compact::UNIT_BYTES, |align| align.0);
    let laid_out = Compact::new(source, again, first, unit_bytes);
    let rest = WorkloadSpec { device: None, window: None, ..spec.clone() };
    Transformed::new(laid_out, &rest, seed, capacity_bytes)
}
