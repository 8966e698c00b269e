//! Arrays: do volumes make of a request what their RAID level says, and do drives collect when they are told?

mod coordination;
mod microscope;
mod stage;
mod timelines;
mod told;
mod volumes;
