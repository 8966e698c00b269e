//! Percentiles of a report: `percentile_list`, `clat_percentiles`, `lat_percentiles`.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::parse::Opt;

/// The most percentiles, as fio has it.
const PERCENTILES_MAX: usize = 20;

/// Percentiles of a report.
#[derive(Clone, Debug)]
pub struct ShownPercentiles {
    /// What `percentile_list` says.
    pub percentiles: Option<Vec<f64>>,
    /// Whether percentiles of completion times (`clat`) and of whole response times (`lat`) are shown.
    pub shows: [bool; 2],
}

impl Default for ShownPercentiles {
    fn default() -> Self {
        Self { percentiles: None, shows: [true, false] }
    }
}

impl Subject for ShownPercentiles {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "percentile_list" => self.percentiles = Some(percentiles(opt)?),
            "clat_percentiles" => self.shows[0] = read.flag(opt)?,
            "lat_percentiles" => self.shows[1] = read.flag(opt)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn percentiles(opt: &Opt) -> Result<Vec<f64>, Failure> {
    let parse = |text: &str| text.trim().parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let list: Option<Vec<f64>> = opt.text()?.split(':').map(parse).collect();
    let Some(mut list) = list.filter(|list| list.len() <= PERCENTILES_MAX) else {
        let why = format!("it takes up to {PERCENTILES_MAX} percentages, above 0 and at most 100");
        return Err(opt.wrong(why, "write for example 50:99:99.9"));
    };
    list.sort_by(f64::total_cmp);
    list.dedup();
    Ok(list)
}
