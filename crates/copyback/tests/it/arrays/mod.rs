//! Arrays: volumes split requests as their RAID level says, and drives collect when ordered.

mod coordinated;
mod coordination;
mod microscope;
mod stage;
mod timelines;
mod volumes;
