//! One colour and one dash for each scheme, in every picture: the README's, those of `copyback report`, and those of
//! the Python package.
//!
//! Colours are after Okabe and Ito (2008) and show on white and on black. Each row of the table has a unique pair of
//! colour and dash; neighbours differ in both.

use crate::svg::{self, Colour};

/// Vermilion, blue, reddish purple, bluish green, grey, orange, sky blue: neighbours differ in lightness, too.
const COLOURS: [Colour; 7] = [svg::VERMILION, svg::BLUE, svg::PURPLE, svg::GREEN, svg::GREY, svg::ORANGE, svg::SKY];

/// Lengths of dashes and gaps, in pixels of a line that is two pixels wide; none: a solid line.
const DASHES: [&[u8]; 6] = [&[], &[10, 3], &[8, 3, 2, 3], &[5, 3], &[2, 3], &[8, 2, 2, 2, 2, 2]];

/// Presets, each at its place. Places without a name are for schemes of users.
const PLACES: [&str; 42] = [
    "baseline",
    "pgc",
    "gc-par",
    "gc-par-pgc",
    "ideal-no-gc",
    "",
    "",
    "npgc",
    "pgc-merge",
    "pgc-pipeline",
    "gc-par-unpaired-same",
    "pgc-idle",
    "gc-vic",
    "gc-vic-pgc",
    "hios",
    "dynamic-allocation",
    "ttflash",
    "vanilla",
    "autossd",
    "autossd-static",
    "strict",
    "qosfc",
    "rain",
    "uncoordinated",
    "ggc-reactive-inclusive",
    "ggc-reactive-selective",
    "ggc-proactive-idle",
    "ggc-proactive-soft-limit",
    "baseline-p",
    "baseline-d",
    "twinblk",
    "superpage",
    "paragc",
    "spd",
    "spd-plus",
    "greedy-split",
    "cost-benefit",
    "d-choices",
    "fifo",
    "random",
    "windowed-greedy",
    "pgc-merge-pipeline",
];

/// How the lines of a scheme are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Style {
    /// Its place in the table, from 0.
    pub place: usize,
    /// The colour of the line, and of its name.
    pub colour: Colour,
    /// Lengths of dashes and gaps; none: a solid line.
    pub dashes: &'static [u8],
}

impl Style {
    fn at(place: usize) -> Self {
        Self { place, colour: COLOURS[place % COLOURS.len()], dashes: DASHES[place % DASHES.len()] }
    }

    /// The dashes as SVG has them, `10 3`.
    pub fn dash_array(&self) -> String {
        self.dashes.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// The styles of schemes that one picture or page has, in their order. A preset's style is always the same, unless a
/// scheme before it has its colour: bars and boxes have no dashes. A scheme that is no preset has the first unused
/// place: first those without a name, then those of presets.
pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Style> {
    let names: Vec<&str> = names.into_iter().collect();
    let preset = |name: &str| PLACES.iter().position(|own| *own == name).filter(|_| !name.is_empty());
    let mut taken: Vec<usize> = names.iter().filter_map(|name| preset(name)).collect();
    let mut others: Vec<(&str, usize)> = Vec::new();
    let mut place = |name| {
        if let Some(place) = preset(name) {
            return place;
        }
        if let Some((_, place)) = others.iter().find(|(own, _)| *own == name) {
            return *place;
        }
        let unnamed = (0..PLACES.len()).filter(|at| PLACES[*at].is_empty());
        let free = unnamed.chain(0..PLACES.len()).find(|at| !taken.contains(at));
        let place = free.unwrap_or(others.len() % PLACES.len());
        taken.push(place);
        others.push((name, place));
        place
    };
    with_own_colours(names.iter().map(|name| Style::at(place(name))).collect())
}

/// Gives a scheme an unused colour if an earlier scheme has its colour, as long as unused colours are left.
fn with_own_colours(mut styles: Vec<Style>) -> Vec<Style> {
    let places: Vec<usize> = styles.iter().map(|style| style.place).collect();
    let mut unused: Vec<Colour> =
        COLOURS.into_iter().rev().filter(|colour| styles.iter().all(|style| style.colour != *colour)).collect();
    for at in 0..styles.len() {
        let first = styles[..at].iter().position(|style| style.colour == styles[at].colour);
        let is_taken = first.is_some_and(|first| places[first] != places[at]);
        match styles[..at].iter().find(|style| style.place == places[at]).copied() {
            Some(same) => styles[at] = same,
            None if is_taken => styles[at].colour = unused.pop().unwrap_or(styles[at].colour),
            None => {}
        }
    }
    styles
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback::config::presets::SCHEMES;
    use std::collections::BTreeSet;

    #[test]
    fn every_preset_has_a_place_and_no_two_places_are_drawn_alike() {
        for scheme in SCHEMES {
            let places = PLACES.iter().filter(|name| **name == scheme.name).count();
            assert_eq!(places, 1, "add {} to PLACES", scheme.name);
        }
        let drawn: BTreeSet<_> = (0..PLACES.len()).map(|at| (Style::at(at).colour, Style::at(at).dashes)).collect();
        assert_eq!(drawn.len(), PLACES.len());
    }

    #[test]
    fn a_preset_is_drawn_alike_beside_whatever_others() {
        let alone = of(["pgc"])[0];
        assert_eq!(of(["mine", "baseline", "yours", "pgc"])[3], alone);
        assert_eq!((alone.colour, alone.dash_array().as_str()), (svg::BLUE, "10 3"));
    }

    /// Box plots and bars have no dashes.
    #[test]
    fn few_schemes_have_different_colours() {
        for names in [&["baseline", "hios", "pgc"][..], &["hios", "baseline", "npgc", "hios", "vanilla", "rain"]] {
            let styles = of(names.iter().copied());
            let different: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(
                styles.iter().map(|style| style.colour).collect::<BTreeSet<_>>().len(),
                different.len(),
                "{names:?}"
            );
            assert_eq!(styles[0], of([names[0]])[0], "the first of a colour keeps it");
        }
        assert_eq!(of(["baseline", "hios", "pgc"])[2], of(["pgc"])[0]);
    }

    #[test]
    fn schemes_of_users_differ_from_each_other_and_from_presets() {
        let names: Vec<String> = (0..10).map(|number| format!("own-{number}")).collect();
        let all: Vec<&str> = names.iter().map(String::as_str).chain(["baseline", "own-3"]).collect();
        let styles = of(all.iter().copied());
        assert_eq!(styles[3], styles[11], "one name has one style");
        assert_eq!(styles[..11].iter().collect::<BTreeSet<_>>().len(), 11);
    }
}
