//! The rotation over dies: whose pages are evicted next.

/// The rotation: whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DieRotation {
    next: u32,
    dies: u32,
}

impl DieRotation {
    /// It is the first die's turn.
    pub fn new(dies: u32) -> Self {
        Self { next: 0, dies }
    }

    /// Takes the next die in rotation for which `may_have_it` holds. The rotation continues with the die after it.
    pub fn take(&mut self, may_have_it: impl Fn(u32) -> bool) -> Option<u32> {
        let die = (self.next..self.dies).chain(0..self.next).find(|&die| may_have_it(die))?;
        self.next = (die + 1) % self.dies;
        Some(die)
    }
}
