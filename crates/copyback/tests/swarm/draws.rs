//! Draws compatible settings.
//!
//! First, every knob is drawn freely. While the configuration checks refuse the drive, a knob that the error names is
//! redrawn. The checks are the only list of compatible settings, so that a new policy needs no line here. One setting,
//! the subject of the draw, stays: settings that need many others run as often as the rest.

use crate::knobs::{KNOBS, Mark, names, schemes_of_drives};
use crate::supplied::supplied;
use crate::support::{self, Setting};
use copyback::config::presets::Preset;
use copyback::run::config::RunConfig;
use copyback::workload::rng::{Xoshiro256PlusPlus, below, stream};
use proptest::prelude::*;
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The most redraws; then the case is refused.
const REDRAWS_MAX: u32 = 400;
/// After this many redraws the subject may be drawn again.
const SUBJECT_REDRAWS_MAX: u32 = 250;
/// The most settings that are tried to make a drive impossible.
const SPOILS_MAX: u32 = 100;
/// One case in this many has a preset's scheme.
const SCHEME_EVERY: u64 = 3;
/// One redraw in this many takes a knob of the device: errors state its values without its keys.
const DEVICE_EVERY: u64 = 4;
/// One redraw in this many takes any knob.
const ANY_EVERY: u64 = 12;

/// Settings that hardly run unless they are the subject, because they need many others.
const DEMANDING: &[&str] = &[
    "redundancy.policy = \"rain\"",
    "redundancy.policy = \"ttflash\"",
    "mapping.policy = \"fast\"",
    "mapping.policy = \"superpage\"",
    "mapping.policy = \"dftl\"\nmapping.superpages",
    "mapping.policy = \"map-cache\"\nmapping.superpages",
];
/// One turn in this many has a demanding setting as its subject.
const DEMANDING_EVERY: u64 = 4;

/// One setting of every knob.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Number of the setting of each knob.
    settings: Vec<usize>,
    /// Number of the order of a static allocation.
    order: u64,
    /// Its tables replace the knobs of the same axes.
    scheme: Option<Preset>,
    spare_units: u64,
}

/// What a case demands of a drive, besides acceptance by the configuration checks.
#[derive(Clone, Copy, Debug)]
pub struct Demands {
    /// Whether a setting may be drawn.
    pub is_allowed: fn(Setting) -> bool,
    /// Returns the keys that violate the demand; `None` if it is met.
    pub obstacle: fn(&RunConfig) -> Option<&'static str>,
}

impl Demands {
    /// Any drive that the configuration checks accept.
    pub const NONE: Self = Self { is_allowed: |_| true, obstacle: |_| None };
}

/// Why a choice is not accepted.
struct Refusal {
    /// The keys, or a text with keys.
    text: String,
    /// The drive is possible and does not meet the demands.
    is_demand: bool,
}

/// A part of a choice that is redrawn separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Knob(usize),
    Order,
    Scheme,
}

/// Draws choices. Almost all are accepted; for a few no accepted one is found.
#[derive(Clone, Debug)]
pub struct Choices {
    demands: Demands,
    /// Numbers of the settings of each knob that may be drawn.
    allowed: Vec<Vec<usize>>,
    schemes: Vec<Preset>,
    /// The keys of each knob.
    keys: Vec<BTreeSet<&'static str>>,
    /// Each setting that may be drawn, and each scheme: its part and its number there.
    subjects: Vec<(Part, usize)>,
    /// Those of them that need many other settings.
    demanding: Vec<(Part, usize)>,
    /// Number of the subject, modulo the subjects; without one it is drawn.
    turn: Option<u64>,
}

/// Choices that meet demands.
pub fn choice(demands: Demands) -> Choices {
    let numbers = |settings: &[Setting]| (0..settings.len()).filter(|&at| (demands.is_allowed)(settings[at])).collect();
    let keys = |settings: &&[Setting]| settings.iter().flat_map(|s| s.lines()).filter_map(key_of).collect();
    let allowed: Vec<Vec<usize>> = KNOBS.iter().map(|settings| numbers(settings)).collect();
    let schemes = schemes_of_drives();
    let mut subjects: Vec<_> = (0..schemes.len()).map(|at| (Part::Scheme, at)).collect();
    for (knob, numbers) in allowed.iter().enumerate() {
        // Settings that are listed twice are drawn more often; they are one subject.
        let is_first = |&&at: &&usize| !KNOBS[knob][..at].contains(&KNOBS[knob][at]);
        subjects.extend(numbers.iter().filter(is_first).map(|&at| (Part::Knob(knob), at)));
    }
    let is_demanding = |&&(part, at): &&(Part, usize)| match part {
        Part::Knob(knob) => DEMANDING.iter().any(|setting| KNOBS[knob][at].starts_with(setting)),
        Part::Order | Part::Scheme => false,
    };
    let demanding = subjects.iter().filter(is_demanding).copied().collect();
    let keys = KNOBS.iter().map(keys).collect();
    Choices { demands, allowed, schemes, keys, subjects, demanding, turn: None }
}

/// As `choice`, but `turn` selects the subject, so that consecutive turns cover every setting and scheme.
pub fn choice_in_turn(demands: Demands, turn: u64) -> Choices {
    Choices { turn: Some(turn), ..choice(demands) }
}

fn key_of(line: &'static str) -> Option<&'static str> {
    line.split_once(" = ").map(|(key, _)| key)
}

fn table_of(key: &str) -> &str {
    key.split('.').next().expect("a part before the first point")
}

/// The keys in a refusal: it begins with one, which may be a whole table, and those in its text have points.
fn keys_in(refusal: &str) -> Vec<&str> {
    let words = refusal.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-'));
    let words = words.map(|word| word.trim_matches('.'));
    words.enumerate().filter(|(at, word)| *at == 0 || word.contains('.')).map(|(_, word)| word).collect()
}

/// Whether a key equals another one, or is in its table.
fn is_within(key: &str, table: &str) -> bool {
    key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn pick<T: Copy>(rng: &mut Xoshiro256PlusPlus, all: &[T]) -> T {
    all[below(rng, all.len() as u64) as usize]
}

fn in_turn<T: Copy>(all: &[T], turn: u64) -> T {
    all[(turn % all.len() as u64) as usize]
}

impl Choices {
    /// Draws settings that go together; the number determines all draws.
    fn draw(&self, number: u64) -> Choice {
        let mut rng = stream(number, "swarm.settings");
        let (mut choice, subject) = self.begin(&mut rng);
        let mut subject = Some(subject);
        for redraw in 0..REDRAWS_MAX {
            let Some(refusal) = self.refusal(&choice) else { break };
            let named = self.parts_named(&choice, &refusal, subject);
            // Gives up the subject: it alone can violate the demand, or too many redraws have failed.
            if (refusal.is_demand && named.is_empty()) || redraw == SUBJECT_REDRAWS_MAX {
                subject = None;
            }
            let part = self.part_to_redraw(&choice, named, subject, &mut rng);
            self.redraw(&mut choice, part, subject, &mut rng);
        }
        choice
    }

    /// Any settings with a subject among them.
    fn begin(&self, rng: &mut Xoshiro256PlusPlus) -> (Choice, Part) {
        let spare_units = if below(rng, 3) == 0 { below(rng, 9) } else { 0 };
        let settings = self.allowed.iter().map(|numbers| pick(rng, numbers)).collect();
        let mut choice = Choice { settings, order: below(rng, 24), scheme: None, spare_units };
        let (subject, number) = match self.turn {
            None => pick(rng, &self.subjects),
            Some(turn) if turn % DEMANDING_EVERY == 0 => in_turn(&self.demanding, turn / DEMANDING_EVERY),
            Some(turn) => in_turn(&self.subjects, turn - turn / DEMANDING_EVERY - 1),
        };
        match subject {
            Part::Knob(knob) => {
                choice.settings[knob] = number;
                self.redraw(&mut choice, Part::Scheme, Some(subject), rng);
            }
            _ => choice.scheme = Some(self.schemes[number]),
        }
        (choice, subject)
    }

    /// Why a choice is not accepted, if it is not.
    fn refusal(&self, choice: &Choice) -> Option<Refusal> {
        let config = choice.config();
        let (text, is_demand) = match config.check() {
            Err(e) => (format!("{} {} {}", e.key, e.message, e.help.unwrap_or_default()), false),
            Ok(()) => ((self.demands.obstacle)(&config)?.to_owned(), true),
        };
        Some(Refusal { text, is_demand })
    }

    /// The parts that the refusal names, without the subject.
    fn parts_named(&self, choice: &Choice, refusal: &Refusal, subject: Option<Part>) -> Vec<Part> {
        let words = keys_in(&refusal.text);
        let is_named = |key: &str| words.iter().any(|word| is_within(key, word) || is_within(word, key));
        let mut named = self.knobs_with(choice, subject, is_named);
        let has_table = |table: &str| words.iter().any(|word| is_within(word, table));
        named.extend(has_table("allocation").then_some(Part::Order));
        let is_scheme = choice.tables_of_scheme().keys().any(|table| has_table(table));
        named.extend(is_scheme.then_some(Part::Scheme).filter(|part| Some(*part) != subject));
        named
    }

    /// Knobs with such a key, without the subject and those that the scheme replaces.
    fn knobs_with(&self, choice: &Choice, subject: Option<Part>, is_wanted: impl Fn(&str) -> bool) -> Vec<Part> {
        let tables = choice.tables_of_scheme();
        let is_free = |&knob: &usize| {
            Some(Part::Knob(knob)) != subject && (tables.is_empty() || !tables.contains_key(table_of(names()[knob])))
        };
        let has_key = |&knob: &usize| self.keys[knob].iter().any(|key| is_wanted(key));
        (0..KNOBS.len()).filter(is_free).filter(has_key).map(Part::Knob).collect()
    }

    /// One of those that the refusal names, mostly.
    fn part_to_redraw(
        &self,
        choice: &Choice,
        named: Vec<Part>,
        subject: Option<Part>,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Part {
        let is_any = below(rng, ANY_EVERY) == 0;
        if is_any {
            return pick(rng, &self.knobs_with(choice, subject, |_| true));
        }
        if named.is_empty() || below(rng, DEVICE_EVERY) == 0 {
            let is_of_device = |key: &str| ["geometry", "capacity", "commands"].contains(&table_of(key));
            return pick(rng, &self.knobs_with(choice, subject, is_of_device));
        }
        pick(rng, &named)
    }

    fn redraw(&self, choice: &mut Choice, part: Part, subject: Option<Part>, rng: &mut Xoshiro256PlusPlus) {
        match part {
            Part::Knob(knob) => choice.settings[knob] = pick(rng, &self.allowed[knob]),
            Part::Order => choice.order = below(rng, 24),
            Part::Scheme => {
                choice.scheme = (below(rng, SCHEME_EVERY) == 0).then(|| pick(rng, &self.schemes));
                // A table of the scheme would replace the subject.
                if let Some(Part::Knob(knob)) = subject
                    && choice.tables_of_scheme().contains_key(table_of(names()[knob]))
                {
                    choice.scheme = None;
                }
            }
        }
    }
}

impl Strategy for Choices {
    type Tree = ChoiceTree;
    type Value = Choice;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let number = any::<u64>().new_tree(runner)?.current();
        Ok(ChoiceTree { choice: self.draw(number), is_scheme_tried: false, next: (0, 0), before: None })
    }
}

/// Shrinks a choice knob by knob to the plainest setting with which the case still fails.
pub struct ChoiceTree {
    choice: Choice,
    is_scheme_tried: bool,
    /// The knob and the setting that are tried next.
    next: (usize, usize),
    /// What failed last.
    before: Option<Choice>,
}

impl ValueTree for ChoiceTree {
    type Value = Choice;

    fn current(&self) -> Choice {
        self.choice.clone()
    }

    fn simplify(&mut self) -> bool {
        let mut other = self.choice.clone();
        if !std::mem::replace(&mut self.is_scheme_tried, true) && other.scheme.take().is_some() {
            self.before = Some(std::mem::replace(&mut self.choice, other));
            return true;
        }
        while let (knob, setting) = self.next
            && knob < KNOBS.len()
        {
            if setting < other.settings[knob] {
                other.settings[knob] = setting;
                self.next.1 += 1;
                self.before = Some(std::mem::replace(&mut self.choice, other));
                return true;
            }
            self.next = (knob + 1, 0);
        }
        false
    }

    fn complicate(&mut self) -> bool {
        let Some(before) = self.before.take() else { return false };
        self.choice = before;
        // The next one at once: what failed need not run again.
        self.simplify();
        true
    }
}

impl Choice {
    /// The choice with one other setting, with which it is refused; none if no such setting is found.
    pub fn spoilt(&self, number: u64) -> Option<Self> {
        let mut rng = stream(number, "swarm.spoilt");
        let other = |_| {
            let mut other = self.clone();
            let knob = below(&mut rng, KNOBS.len() as u64) as usize;
            other.settings[knob] = below(&mut rng, KNOBS[knob].len() as u64) as usize;
            other
        };
        (0..SPOILS_MAX).map(other).find(|other| other.config().check().is_err())
    }

    /// The tables of the scheme; empty without one. Each scheme is parsed once.
    fn tables_of_scheme(&self) -> &'static toml::Table {
        static TABLES: OnceLock<Vec<(&str, toml::Table)>> = OnceLock::new();
        static NONE: OnceLock<toml::Table> = OnceLock::new();
        let Some(scheme) = self.scheme else { return NONE.get_or_init(toml::Table::new) };
        let tables_of = |scheme: Preset| {
            let mut table: toml::Table = scheme.text.parse().expect("a preset is TOML");
            table.retain(|_, value| value.is_table());
            (scheme.name, table)
        };
        let tables = TABLES.get_or_init(|| schemes_of_drives().into_iter().map(tables_of).collect());
        &tables.iter().find(|(name, _)| *name == scheme.name).expect("it is a scheme of drives").1
    }

    /// The settings of knobs, without those that the scheme replaces, and all lines of the configuration.
    fn marks_and_lines(&self) -> (Vec<Mark>, Vec<String>) {
        let scheme = self.tables_of_scheme();
        let settings = self.settings.iter().zip(KNOBS).zip(names()).map(|((&at, all), &name)| (name, all[at]));
        let marks: Vec<Mark> = settings.filter(|(knob, _)| !scheme.contains_key(table_of(knob))).collect();
        let mut lines: Vec<String> = marks.iter().map(|(_, setting)| (*setting).to_owned()).collect();
        for (axis, table) in scheme.iter().filter_map(|(axis, value)| Some((axis, value.as_table()?))) {
            lines.extend(table.iter().map(|(key, value)| format!("{axis}.{key} = {value}")));
        }
        if lines.iter().any(|line| line == "allocation.policy = \"static\"") {
            lines.push(format!("allocation.order = \"{}\"", allocation_order(self.order as usize)));
        }
        (marks, lines)
    }

    /// The configuration alone.
    pub fn config(&self) -> RunConfig {
        supplied(support::configuration_of_tables(&self.marks_and_lines().1, self.spare_units))
    }

    /// The configuration, its text, and the settings in it.
    pub fn configuration(&self) -> (RunConfig, String, Vec<Mark>) {
        let (mut marks, lines) = self.marks_and_lines();
        let (config, text) = support::configuration(&lines, self.spare_units);
        let config = supplied(config);
        assert_eq!(config, self.config(), "the text, and its tables");
        marks.push(("scheme", self.scheme.map_or("", |s| s.name)));
        (config, text, marks)
    }
}

/// The order of a static allocation: any of the 24.
fn allocation_order(number: usize) -> String {
    let mut letters = vec!['C', 'W', 'D', 'P'];
    let (first, second, third) = (number / 6 % 4, number / 2 % 3, number % 2);
    [letters.remove(first), letters.remove(second), letters.remove(third), letters[0]].iter().collect()
}
