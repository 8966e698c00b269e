//! Options whose values have a form of their own.

use super::{Engine, Job, Modifier, engines};
use crate::failure::Failure;
use crate::fio::number::number;
use crate::fio::parse::Opt;
use crate::fio::shape::{self, Blocks};

/// The most percentiles, as fio has it.
const PERCENTILES_MAX: usize = 20;

impl Job {
    pub(super) fn set_ops(&mut self, opt: &Opt) -> Result<(), Failure> {
        let text = opt.text()?;
        let (pattern, modifier) = text.split_once(':').map_or((text, None), |(pattern, more)| (pattern, Some(more)));
        let (ops, is_random) = match pattern {
            "read" => ([true, false, false], false),
            "write" | "trimwrite" => ([false, true, false], false),
            "trim" => ([false, false, true], false),
            "randread" => ([true, false, false], true),
            "randwrite" | "randtrimwrite" => ([false, true, false], true),
            "randtrim" => ([false, false, true], true),
            "rw" | "readwrite" => ([true, true, false], false),
            "randrw" => ([true, true, false], true),
            _ => {
                let help = "use read, write, trim, trimwrite or rw, or randread, randwrite, randtrim, randtrimwrite or \
                            randrw";
                return Err(opt.wrong("fio has no such pattern", help));
            }
        };
        (self.ops, self.is_random) = (ops, is_random);
        self.trims_first = pattern.ends_with("trimwrite");
        self.modifier = match modifier {
            None => Modifier::default(),
            Some(text) if is_random => {
                let wrong =
                    || opt.wrong("the colon must be followed by a number of requests", "write for example randread:8");
                let run_length = number(opt, text, self.kb_base)?;
                Modifier {
                    run_length: Some(run_length).filter(|length| *length > 0).ok_or_else(wrong)?.into(),
                    skip_bytes: 0,
                }
            }
            Some(text) => {
                let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
                let bytes = i64::try_from(shape::sectors(opt, digits, self.kb_base)?).unwrap_or(i64::MAX);
                Modifier { run_length: None, skip_bytes: sign * bytes }
            }
        };
        Ok(())
    }

    /// Sizes of reads, writes and trims, each as `read` has them.
    pub(super) fn set_sizes<T>(
        &mut self,
        opt: &Opt,
        read: fn(&Opt, &str, u64) -> Result<T, Failure>,
        made: fn(T) -> Blocks,
    ) -> Result<(), Failure> {
        for (blocks, text) in self.blocks.iter_mut().zip(shape::each(opt, opt.text()?)?) {
            if !text.is_empty() {
                *blocks = made(read(opt, text, self.kb_base)?);
            }
        }
        Ok(())
    }

    pub(super) fn set_engine(&mut self, opt: &Opt) -> Result<(), Failure> {
        let name = opt.text()?;
        let (engine, is_synchronous) = engines::find(name).map_err(|(why, help)| opt.wrong(why, help))?;
        self.is_synchronous = is_synchronous;
        self.notes.retain(|note| !note.starts_with("`ioengine="));
        if engine == Engine::Remote {
            self.notes.push(format!("`ioengine={name}`: the network takes no time, and the drive is asked directly"));
        }
        Ok(())
    }

    pub(super) fn set_filename(&mut self, opt: &Opt) -> Result<(), Failure> {
        // A colon divides names, unless a backslash stands before it.
        let text = opt.text()?.replace("\\:", "\0");
        if text.contains(':') {
            return Err(opt.wrong(
                "a job on several files is not supported",
                "write a job for each of them; a colon that belongs to a name is written \\:",
            ));
        }
        self.filename = Some(text.replace('\0', ":"));
        Ok(())
    }

    /// Limits of reads, writes and trims; none where nothing or 0 is said.
    pub(super) fn rates(&self, opt: &Opt) -> Result<[Option<u64>; 3], Failure> {
        let mut rates = [None; 3];
        for (rate, text) in rates.iter_mut().zip(shape::each(opt, opt.text()?)?) {
            if !text.is_empty() {
                *rate = Some(number(opt, text, self.kb_base)?).filter(|rate| *rate > 0);
            }
        }
        Ok(rates)
    }

    pub(super) fn set_zone_mode(&mut self, opt: &Opt) -> Result<(), Failure> {
        self.strides.are_off = match opt.text()? {
            "none" => true,
            "strided" => false,
            "zbd" => {
                let why = "the drive has no zones that are written in order";
                return Err(opt.wrong(why, "leave it out, with zonesize, to ask a drive without zones"));
            }
            _ => return Err(opt.wrong("fio knows none, strided and zbd", "write zonemode=strided")),
        };
        Ok(())
    }

    pub(super) fn set_percentiles(&mut self, opt: &Opt) -> Result<(), Failure> {
        let parse = |text: &str| text.trim().parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
        let list: Option<Vec<f64>> = opt.text()?.split(':').map(parse).collect();
        let Some(mut list) = list.filter(|list| list.len() <= PERCENTILES_MAX) else {
            let why = format!("these are not up to {PERCENTILES_MAX} percentages above 0");
            return Err(opt.wrong(why, "write for example 50:99:99.9"));
        };
        list.sort_by(f64::total_cmp);
        list.dedup();
        self.percentiles = Some(list);
        Ok(())
    }
}
