//! The subjects of validation: the flash of all presets, or the user's own device; and the drives on which the cases
//! run.

use crate::failure::Failure;
use crate::files::Input;
use crate::plan;
use crate::progress::stop_thread_if_requested;
use copyback::config::GeometryConfig;
use copyback::config::layers::Layer;
use copyback::config::presets::DEVICES;
use copyback::observe::report::Outcome;
use copyback::run::config::RunConfig;
use copyback::run::config::Stack;
use copyback::run::{self, Options};
use copyback_workload::{Error, Op, Priority, Request, RequestSource};

/// The subject of validation, and how thorough it is.
pub struct Scope {
    /// The devices whose flash is used.
    pub devices: Vec<Device>,
    /// Whether the user named one; cases that depend on no device are then left out.
    pub is_one_device: bool,
    /// Fewer and shorter cases.
    pub is_quick: bool,
}

/// A device.
#[derive(Clone)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// The configuration of this device with the default scheme.
    pub config: RunConfig,
}

impl Scope {
    /// The devices: the one that the user names, or all presets. What was read goes into `inputs`.
    pub fn new(device: Option<&str>, is_quick: bool, inputs: &mut Vec<Input>) -> Result<Self, Failure> {
        let devices = match device {
            Some(name) => vec![load(name, inputs)?],
            // What is compiled in is no input.
            None => DEVICES.iter().map(|preset| load(preset.name, &mut Vec::new())).collect::<Result<_, _>>()?,
        };
        Ok(Self { devices, is_one_device: device.is_some(), is_quick })
    }

    /// The device of the waiting times: the user's, or the default one.
    pub fn first(&self) -> &Device {
        &self.devices[0]
    }
}

/// A preset, or a file. Its errors are those of `copyback run`.
fn load(name: &str, inputs: &mut Vec<Input>) -> Result<Device, Failure> {
    let mut stack = Stack::new();
    stack.push(plan::load_device(name, inputs)?);
    // A configuration is checked as a whole, with a workload.
    let workload = "requests = 1\nread_share = 0.5\nsize = { kind = \"fixed\", mean = \"4 KiB\" }";
    stack.push(Layer::parse_table("workload", "workload", workload)?);
    let config = stack.resolve()?.run;
    Ok(Device { name: plan::label(name), config })
}

impl Device {
    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        let g = &self.config.geometry;
        g.channels * g.chips_per_channel * g.dies_per_chip
    }

    /// Physical over logical capacity, less one.
    pub fn over_provisioning(&self) -> Result<f64, Failure> {
        let g = &self.config.geometry;
        let pages = u64::from(self.dies() * g.planes_per_die) * u64::from(g.blocks_per_plane);
        let physical_bytes = pages * u64::from(g.pages_per_block) * g.page_size.0;
        let logical_bytes = self.config.capacity.logical_bytes(physical_bytes).map_err(run::RunError::from)?;
        Ok(physical_bytes as f64 / logical_bytes as f64 - 1.0)
    }

    /// Planes that one of its commands can name at most.
    pub fn planes_a_command(&self, planes_per_die: u32) -> u32 {
        let commands = &self.config.commands;
        match (commands.multi_plane, commands.plane_pairs) {
            (false, _) => 1,
            (true, true) => planes_per_die.min(2),
            (true, false) => planes_per_die,
        }
    }

    /// A drive with this device's page, times and commands, of another shape, with a scheme of its own. `scheme` is
    /// TOML: tables of a configuration.
    pub fn with(&self, scheme: &str, shape: impl FnOnce(&mut GeometryConfig)) -> Result<RunConfig, Failure> {
        let mut config = parsed(scheme);
        config.geometry = self.config.geometry.clone();
        config.timing = self.config.timing.clone();
        config.commands = self.config.commands;
        shape(&mut config.geometry);
        config.check().map_err(run::RunError::from)?;
        Ok(config)
    }
}

/// A configuration of these tables on arbitrary flash.
pub fn parsed(scheme: &str) -> RunConfig {
    let rest = r#"
        [timing]
        read = "50 us"
        program = "500 us"
        erase = "3 ms"
        channel = "400 MB/s"
        [geometry]
        channels = 1
        chips_per_channel = 1
        dies_per_chip = 1
        planes_per_die = 1
        blocks_per_plane = 16
        pages_per_block = 16
        page_size = "4 KiB"
    "#;
    let tables: toml::Table = format!("{scheme}\n{rest}").parse().expect("the tables of a case are TOML");
    tables.try_into().expect("the tables of a case are those of a configuration")
}

/// Preconditions a drive and runs requests on it.
pub fn simulate(
    config: &RunConfig,
    source: Box<dyn RequestSource + Send>,
    seed: u64,
    keep_requests: bool,
) -> Result<Outcome, Failure> {
    let options = Options { seed, keep_requests, ..Options::default() };
    let image = run::precondition_with_progress(config, seed, &mut |_| stop_thread_if_requested())?;
    Ok(run::simulate(config, image, source, &options, &mut |_| stop_thread_if_requested())?)
}

/// Requests that a closure makes until it has no more.
pub struct Requests<F>(pub F);

impl<F: FnMut() -> Option<Request>> RequestSource for Requests<F> {
    fn next_request(&mut self) -> Result<Option<Request>, Error> {
        Ok((self.0)())
    }
}

/// A request.
pub fn request(op: Op, arrival_ns: u64, offset_bytes: u64, len_bytes: u64) -> Request {
    Request { arrival_ns, offset_bytes, len_bytes, device: 0, op, priority: Priority::Normal }
}
