//! A job of fio: its options, parsed and grouped by subject.

mod block_map;
mod extent;
mod pace;
mod pattern;
mod percentiles;
mod places;
mod region;
mod replay;
mod safety;
mod schedule;
mod settle;
mod sizes;

mod unused;
mod urgency;
mod value_parser;
mod verification;

use super::options::{self, Meaning};
use super::parse::{Opt, Section};
use crate::failure::Failure;
pub use extent::BytesOrShare;
use extent::Extent;
use pace::Pace;
use pattern::Pattern;
use percentiles::ShownPercentiles;
use places::Places;
use replay::Replay;
pub use safety::Safety;
use schedule::Schedule;
use sizes::Sizes;
use urgency::Urgency;
use value_parser::ValueParser;
use verification::Verification;

/// Operations, in fio's order.
pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const TRIM: usize = 2;

/// A job of fio.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: String,
    /// The name of its section.
    pub section: String,
    /// The options as they are written, for fio's JSON.
    pub options: Vec<(String, String)>,
    /// Which operations it has, and in which order.
    pub pattern: Pattern,
    /// Sizes of requests.
    pub sizes: Sizes,
    /// Its addresses and its amount.
    pub extent: Extent,
    /// How addresses are drawn.
    pub places: Places,
    /// How fast requests begin.
    pub pace: Pace,
    /// When the job and its clones run.
    pub schedule: Schedule,
    /// A log that it replays.
    pub replay: Replay,
    urgency: Urgency,
    verification: Verification,
    /// Which figures are shown.
    pub shown: ShownPercentiles,
    /// The place of its section, for errors about the whole job.
    pub whole: Opt,
    /// Its options and those of `[global]`, each under its first name.
    set_options: Vec<(&'static str, Opt)>,
    /// Notes on accepted options without effect.
    pub notes: Vec<String>,
    /// Options that request flushes of a drive's buffer.
    pub flushes: Vec<Opt>,
}

/// The options of one subject.
trait Subject {
    /// Sets an option, by its first name; `false` if it belongs to another subject. Adds notes on parts without effect.
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, notes: &mut Vec<String>) -> Result<bool, Failure>;
}

impl Job {
    /// The job of a section, with the options of the `[global]` sections above it.
    pub fn new(section: &Section, global: &[Opt]) -> Result<Self, Failure> {
        let key = format!("[{}]", section.name);
        let whole = Opt { key, value: None, place: section.place.clone(), missing: None };
        // fio's JSON omits options without a value.
        let own = section.options.iter().filter_map(|opt| Some((opt.key.clone(), opt.value.clone()?)));
        let mut job = Self {
            name: section.name.clone(),
            section: section.name.clone(),
            options: own.collect(),
            pattern: Pattern::default(),
            sizes: Sizes::default(),
            extent: Extent::default(),
            places: Places::default(),
            pace: Pace::default(),
            schedule: Schedule::default(),
            replay: Replay::default(),
            urgency: Urgency::default(),
            verification: Verification::default(),
            shown: ShownPercentiles::default(),
            whole,
            set_options: Vec::new(),
            notes: Vec::new(),
            flushes: Vec::new(),
        };
        let all = || global.iter().chain(&section.options);
        let mut read = ValueParser::default();
        // `kb_base` comes first, because it sets the unit of all other options.
        for opt in all().filter(|opt| opt.key == "kb_base") {
            read = ValueParser::of_kb_base(opt)?;
        }
        // `ioengine` comes next: if the engine uses no drive, that is the error, not one of its options.
        for opt in all().filter(|opt| opt.key == "ioengine") {
            job.set(opt, read)?;
        }
        for opt in all().filter(|opt| opt.key != "ioengine") {
            job.set(opt, read)?;
        }
        job.settle()?;
        job.note_unused(&section.options);
        Ok(job)
    }

    /// The last option with one of these names, for an error; the job if there is none.
    pub fn at(&self, names: &[&str]) -> &Opt {
        self.option(names).unwrap_or(&self.whole)
    }

    /// The last option with one of these names.
    pub fn option(&self, names: &[&str]) -> Option<&Opt> {
        self.set_options.iter().rev().find(|(name, _)| names.contains(name)).map(|(_, opt)| opt)
    }

    fn set(&mut self, opt: &Opt, read: ValueParser) -> Result<(), Failure> {
        let Some((names, meaning)) = options::find(&opt.key) else {
            let help = match options::like(&opt.key) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`fio --cmdhelp=all` lists them".to_owned(),
            };
            return Err(opt.wrong("fio has no option of this name", help));
        };
        match meaning {
            Meaning::Understood => {
                self.set_options.push((names[0], opt.clone()));
                self.set_understood(names[0], opt, read)
            }
            Meaning::WithoutEffect(why) => {
                let note = format!("`{}` has no effect: {why}", opt.key);
                // An option that is off needs no note.
                if opt.value.as_deref() != Some("0") && !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                Ok(())
            }
            Meaning::Flush => {
                // The job's own option replaces the one of `[global]`.
                self.flushes.retain(|known| known.key != opt.key);
                if !matches!(opt.value.as_deref(), Some("0" | "none")) {
                    self.flushes.push(opt.clone());
                }
                Ok(())
            }
            Meaning::Only(values, why, help) => {
                let is_one = opt.value.as_deref().is_some_and(|value| values.contains(&value));
                if is_one { Ok(()) } else { Err(opt.wrong(why, *help)) }
            }
        }
    }

    fn set_understood(&mut self, name: &str, opt: &Opt, read: ValueParser) -> Result<(), Failure> {
        match name {
            // It was read before.
            "kb_base" => return Ok(()),
            "name" => {
                opt.text()?.clone_into(&mut self.name);
                return Ok(());
            }
            _ => {}
        }
        let subjects: [&mut dyn Subject; 10] = [
            &mut self.pattern,
            &mut self.sizes,
            &mut self.extent,
            &mut self.places,
            &mut self.pace,
            &mut self.schedule,
            &mut self.replay,
            &mut self.urgency,
            &mut self.verification,
            &mut self.shown,
        ];
        for subject in subjects {
            if subject.set(name, opt, read, &mut self.notes)? {
                return Ok(());
            }
        }
        Err(opt.wrong("this option of fio is not implemented", "leave it out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::parse;

    /// Each option that is listed as understood is one of a subject, whatever its value.
    #[test]
    fn each_option_that_is_understood_has_a_subject() {
        for (names, _) in options::OPTIONS.iter().filter(|(_, meaning)| *meaning == Meaning::Understood) {
            let sections = parse::sections("test", &format!("[a]\n{}=1\n", names[0])).expect("it is a job file");
            let message = Job::new(&sections[0], &[]).err().map(|failure| failure.message().to_owned());
            assert!(!message.is_some_and(|message| message.contains("not implemented")), "{}", names[0]);
        }
    }
}
