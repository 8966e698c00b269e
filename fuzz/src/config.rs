//! A configuration is refused at a place that exists, or accepted; then it is the same when printed and read again.

use copyback::config::layers::{Layer, LayerError};
use copyback::config::presets::{DEVICES, SCHEMES};
use copyback::run::config::{Resolved, Stack};
use copyback_workload::open;
use copyback_workload::spec::WorkloadSpec;
use std::path::Path;

/// The line between the layers of one input; a comment, so that each input is TOML that one can read.
const SEPARATOR: &str = "#---";

/// The workload where an input has none of its own.
const WORKLOAD: &str = "[workload]\nrequests = 100\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }\n";

/// How many requests an accepted generator has to draw.
const DRAWN_REQUESTS: usize = 64;

/// An input is an experiment, or up to four texts between lines `#---`: device, scheme, workload, experiment. An empty
/// one stands for the default.
pub fn check_layers(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut texts = [DEVICES[0].text, SCHEMES[0].text, WORKLOAD, ""].map(str::to_owned);
    let parts: Vec<&str> = text.split(&format!("{SEPARATOR}\n")).collect();
    // One text alone is the experiment, the last of the four.
    let first = if parts.len() == 1 { texts.len() - 1 } else { 0 };
    for (text, part) in texts[first..].iter_mut().zip(parts) {
        if !part.is_empty() {
            part.clone_into(text);
        }
    }
    settle(stacked(&texts).and_then(|stack| resolve(&stack)));
}

/// An input is one `--set` argument a line.
pub fn check_sets(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let arguments: Vec<String> = text.lines().map(str::to_owned).collect();
    let texts = [DEVICES[0].text, SCHEMES[0].text, WORKLOAD, ""].map(str::to_owned);
    let mut stack = stacked(&texts).expect("presets and the workload above are layers");
    settle(Layer::of_sets(&arguments).and_then(|layer| {
        stack.push(layer);
        resolve(&stack)
    }));
}

/// Stacks the texts as the program does.
fn stacked([device, scheme, workload, experiment]: &[String; 4]) -> Result<Stack, LayerError> {
    let mut stack = Stack::new();
    for (name, text) in [("device", device), ("scheme", scheme), ("workload", workload)] {
        let mut layer = Layer::parse(name, text)?;
        for about in ["name", "description", "source"] {
            layer.take_text(about)?;
        }
        layer.resolve_path("workload.trace", Path::new("folder"));
        stack.push(layer);
    }
    let mut layer = Layer::parse("experiment", experiment)?;
    layer.resolve_path("workload.trace", Path::new("folder"));
    if layer.is_text("workload") {
        layer.take_text("workload")?;
    }
    for text in ["workload.preset", "scheme", "name", "device", "description", "source"] {
        layer.take_text(text)?;
    }
    layer.take_texts("schemes")?;
    for number in ["seed", "requests"] {
        layer.take_number(number)?;
    }
    stack.push(layer);
    Ok(stack)
}

/// Resolves the stack in each way in which the program does.
fn resolve(stack: &Stack) -> Result<Resolved, LayerError> {
    for partial in [stack.resolve_parts().map(drop), stack.resolve_workload().map(drop)] {
        if let Err(error) = partial {
            check_error(&error);
        }
    }
    stack.resolve()
}

/// Checks what came of it.
fn settle(resolved: Result<Resolved, LayerError>) {
    match resolved {
        Ok(resolved) => {
            check_printed(&resolved);
            check_generator(&resolved);
        }
        Err(error) => check_error(&error),
    }
}

fn check_error(error: &LayerError) {
    assert!(!error.message.is_empty(), "an error says something");
    if let Some(place) = &error.place {
        let text = &place.text.text;
        assert!(text.get(place.span.clone()).is_some(), "{error} at {:?}, which is no part of {text:?}", place.span);
    }
}

fn check_printed(resolved: &Resolved) {
    let printed = resolved.to_toml();
    let layer = Layer::parse("printed", &printed).unwrap_or_else(|error| panic!("{error} in\n{printed}"));
    let mut stack = Stack::new();
    stack.push(layer);
    let again = stack.resolve().unwrap_or_else(|error| panic!("{error} in\n{printed}"));
    assert_eq!(*resolved, again, "printed and read again, it is another:\n{printed}");
}

/// An accepted generator draws possible requests, or says why not.
fn check_generator(resolved: &Resolved) {
    let geometry = &resolved.run.geometry;
    let parts = [geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip, geometry.planes_per_die];
    let planes: u64 = parts.into_iter().map(u64::from).product();
    let blocks = planes * u64::from(geometry.blocks_per_plane);
    let physical_bytes = blocks * u64::from(geometry.pages_per_block) * geometry.page_size.0;
    let capacity_bytes = resolved.run.capacity.logical_bytes(physical_bytes).expect("it was accepted");
    if resolved.workload.trace.is_some() {
        return;
    }
    // No capacity at all is what `trace info` has for a workload with a footprint of its own.
    draw(&resolved.workload, capacity_bytes);
    draw(&resolved.workload, u64::MAX);
}

fn draw(workload: &WorkloadSpec, capacity_bytes: u64) {
    let Ok(mut source) = open(workload, 1, capacity_bytes) else { return };
    let mut last_ns = 0;
    for _ in 0..DRAWN_REQUESTS {
        let Ok(Some(request)) = source.next_request() else { return };
        assert!(request.len_bytes > 0, "{request:?} asks for nothing");
        let end = request.offset_bytes.checked_add(request.len_bytes);
        assert!(end.is_some_and(|end| end <= capacity_bytes), "{request:?} ends beyond {capacity_bytes}");
        assert!(request.arrival_ns >= last_ns, "{request:?} arrives before the request before it");
        last_ns = request.arrival_ns;
    }
}
