//! The simplest rule that separates the worlds in which a headline holds from the others: an exhaustive search over
//! trees of depth two.
//!
//! A criterion is a threshold of a range, or one choice against all others. A deeper tree replaces a simpler one only
//! if it predicts at least two more worlds correctly, and 2 % more of all worlds.

use super::effects::Factor;

/// Thresholds of a range, at most.
const THRESHOLDS: usize = 15;
/// Parts of the validation.
const PARTS: usize = 5;

/// A tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// The answer.
    Leaf(bool),
    /// A criterion, with the trees for yes and no.
    Split(Criterion, Box<Tree>, Box<Tree>),
}

/// A criterion about a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// The place of the decision.
    pub factor: usize,
    /// The test of the decision's value.
    pub test: Test,
}

/// A test of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// Whether it is below.
    Below(f64),
    /// Whether it is this choice.
    Is(f64),
}

/// The rule for some answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The tree.
    pub tree: Tree,
    /// Worlds that it is right about.
    pub right: usize,
    /// Worlds that the more frequent answer alone is right about.
    pub right_without: usize,
    /// Worlds that a tree fitted to the other four fifths of the worlds is right about.
    pub right_validated: usize,
    /// All worlds.
    pub worlds: usize,
}

impl Criterion {
    fn of(self, factors: &[Factor], at: usize) -> bool {
        let value = factors[self.factor].values[at];
        match self.test {
            Test::Below(threshold) => value < threshold,
            Test::Is(choice) => value == choice,
        }
    }
}

impl Tree {
    /// The answer for a world.
    pub fn answer(&self, factors: &[Factor], at: usize) -> bool {
        match self {
            Self::Leaf(answer) => *answer,
            Self::Split(criterion, yes, no) => {
                let next = if criterion.of(factors, at) { yes } else { no };
                next.answer(factors, at)
            }
        }
    }
}

/// All criteria about some worlds.
fn criteria(factors: &[Factor], places: &[usize]) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    for (factor, Factor { values, is_choice }) in factors.iter().enumerate() {
        let mut sorted: Vec<f64> = places.iter().map(|&at| values[at]).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        if *is_choice {
            criteria.extend(sorted.iter().map(|&value| Criterion { factor, test: Test::Is(value) }));
            continue;
        }
        let between: Vec<f64> = sorted.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
        let step = between.len().div_ceil(THRESHOLDS).max(1);
        let chosen = between.iter().skip(step / 2).step_by(step);
        criteria.extend(chosen.map(|&value| Criterion { factor, test: Test::Below(value) }));
    }
    criteria
}

/// The more frequent answer, and how many it is right about.
fn leaf(answers: &[bool], places: &[usize]) -> (Tree, usize) {
    let yes = places.iter().filter(|&&at| answers[at]).count();
    let is_yes = 2 * yes >= places.len();
    (Tree::Leaf(is_yes), yes.max(places.len() - yes))
}

/// The best tree of one criterion.
fn stump(answers: &[bool], factors: &[Factor], places: &[usize], criteria: &[Criterion]) -> (Tree, usize) {
    let mut best = leaf(answers, places);
    if best.1 == places.len() {
        return best;
    }
    for &criterion in criteria {
        let (yes, no): (Vec<usize>, Vec<usize>) = places.iter().partition(|&&at| criterion.of(factors, at));
        if yes.is_empty() || no.is_empty() {
            continue;
        }
        let ((yes, right), (no, right_too)) = (leaf(answers, &yes), leaf(answers, &no));
        if right + right_too > best.1 {
            best = (Tree::Split(criterion, Box::new(yes), Box::new(no)), right + right_too);
        }
    }
    best
}

/// The tree for some worlds: the simplest that is nearly as good as the best.
fn tree(answers: &[bool], factors: &[Factor], places: &[usize]) -> (Tree, usize) {
    let worth = places.len().div_ceil(50).max(2);
    let criteria = criteria(factors, places);
    let mut best = leaf(answers, places);
    let one = stump(answers, factors, places, &criteria);
    if one.1 >= best.1 + worth {
        best = one;
    }
    let mut two = best.clone();
    for &criterion in &criteria {
        let (yes, no): (Vec<usize>, Vec<usize>) = places.iter().partition(|&&at| criterion.of(factors, at));
        if yes.is_empty() || no.is_empty() {
            continue;
        }
        let (yes, right) = stump(answers, factors, &yes, &criteria);
        let (no, right_too) = stump(answers, factors, &no, &criteria);
        if right + right_too > two.1 {
            two = (Tree::Split(criterion, Box::new(yes), Box::new(no)), right + right_too);
        }
    }
    if two.1 >= best.1 + worth { two } else { best }
}

/// The rule for answers over worlds; none without a world.
pub fn rule(answers: &[bool], factors: &[Factor]) -> Option<Rule> {
    let places: Vec<usize> = (0..answers.len()).collect();
    if places.is_empty() {
        return None;
    }
    let (tree_of_all, right) = tree(answers, factors, &places);
    let validated = |part: usize| {
        let (own, others): (Vec<usize>, Vec<usize>) = places.iter().partition(|&&at| at % PARTS == part);
        if others.is_empty() {
            return 0;
        }
        let (tree, _) = tree(answers, factors, &others);
        own.iter().filter(|&&at| tree.answer(factors, at) == answers[at]).count()
    };
    let right_validated = (0..PARTS).map(validated).sum();
    let (_, right_without) = leaf(answers, &places);
    Some(Rule { tree: tree_of_all, right, right_without, right_validated, worlds: places.len() })
}
