//! The JSON document of `copyback reproduce`.

use super::JudgedExperiment;
use super::claim::{Claim, Test};
use super::count::Counts;
use super::details::Details;
use super::judge::{Measured, MissingVerdict, Null};
use serde_json::{Value, json};

/// The fields of the document beside its claims.
pub struct About<'a> {
    /// The paper, or the name of the sweep file without its ending.
    pub name: &'a str,
    /// Whether runs were stopped early.
    pub is_quick: bool,
    /// The options by which the command line changes the experiments.
    pub changes: Vec<String>,
}

/// The document.
pub fn document(about: &About<'_>, done: &[JudgedExperiment]) -> String {
    let claims = done.iter().flat_map(|done| done.claims().map(|(claim, measured)| one(done, claim, measured)));
    let left_out: Vec<_> = done.iter().flat_map(|done| &done.plan.left_out).collect();
    let document = json!({
        "schema": "copyback/reproduce/2",
        "program": crate::results::Program::THIS,
        "paper": about.name,
        "quick": about.is_quick,
        "changes": about.changes,
        "counts": Counts::of(done.iter().flat_map(JudgedExperiment::claims)),
        "claims": claims.collect::<Vec<_>>(),
        "left_out": left_out,
    });
    format!("{document:#}\n")
}

fn one(done: &JudgedExperiment, claim: &Claim, measured: &Measured) -> Value {
    let test = claim.test.as_ref().ok();
    let shown = |effect: Option<f64>| effect.and_then(|effect| test.map(|test| test.shown(effect)));
    let cell = |(label, effect): &(String, f64)| {
        let is_steady = done.is_steady(label);
        json!({ "cell": label, "effect": effect, "is_steady": is_steady })
    };
    let cells: Vec<_> = measured.cells.iter().map(cell).collect();
    let verdict = measured.outcome.as_ref().ok();
    let missing = measured.outcome.as_ref().err();
    let of_control = |control: &Null| {
        let (outcome, why) = (control.outcome.as_ref().ok(), control.outcome.as_ref().err());
        let (effect, verdict) = (outcome.map(|(effect, _)| effect), outcome.map(|(_, verdict)| verdict));
        json!({ "scheme": control.scheme, "effect": effect, "verdict": verdict, "why_not_measured": why })
    };
    json!({
        "experiment": done.plan.stem,
        "figure": claim.figure,
        "text": claim.text,
        "where": claim.source,
        "kind": claim.kind,
        "metric": test.map(|test| &test.metric.text.value),
        "scheme": test.map(|test| &test.scheme),
        "against": test.map(|test| &test.against),
        "measure": test.map(|test| test.measure),
        "unit": test.map(|test| &test.unit),
        "aggregate": test.map(|test| test.aggregate),
        "published": test.map(Test::shown_published),
        "published_effect": test.and_then(|test| test.rule.published.number()),
        "published_bounds": test.map(|test| test.rule.published.bounds()),
        "effect_unit": test.map(Test::unit_of_effect),
        "tolerance": test.and_then(|test| test.rule.tolerance),
        "tolerance_reason": test.and_then(|test| test.tolerance_reason.as_ref()),
        "measured": shown(measured.effect),
        "measured_effect": measured.effect,
        "seeds_half_width": measured.half_width,
        "single_seeds": measured.spread,
        "samples": measured.samples,
        "verdict": verdict,
        "direction_holds": verdict.map(|verdict| verdict.direction_holds()),
        "why_not_measured": missing.and_then(|m| if let MissingVerdict::NotMeasured(why) = m { Some(why) } else { None }),
        "why_not_judged": missing.and_then(|m| if let MissingVerdict::NotJudged(why) = m { Some(why) } else { None }),
        "null": measured.null.iter().map(of_control).collect::<Vec<_>>(),
        "own_effect": measured.own,
        "all_effect": measured.all,
        "pages_moved_change": measured.pages_moved,
        "erases_change": measured.erases,
        "gc_time_change": measured.gc_time,
        "details": Details::of(claim, measured),
        "cells": cells,
    })
}
