//! The progress of a preconditioning, reported periodically to the caller.

/// The work of a preconditioning, in map entries written as fast as memory takes them.
#[derive(Default)]
pub(super) struct Pace<'a> {
    done: f64,
    expected: f64,
    told: f64,
    tell: Option<&'a mut dyn FnMut(f64)>,
}

/// Work between two reports: some hundredths of a second, so that a caller can stop it soon.
const STEP: f64 = 1_048_576.0;

impl<'a> Pace<'a> {
    /// Nothing is done yet.
    pub fn new(tell: &'a mut dyn FnMut(f64)) -> Self {
        Self { tell: Some(tell), ..Self::default() }
    }

    /// The total work; an estimate if it ends when a state is reached.
    pub fn expect(&mut self, work: f64) {
        self.expected += work;
    }

    /// So much more was done.
    #[inline]
    pub fn add(&mut self, work: f64) {
        self.done += work;
        if self.done >= self.told + STEP {
            self.pass_on();
        }
    }

    #[cold]
    fn pass_on(&mut self) {
        self.told = self.done;
        let share = (self.done / self.expected.max(1.0)).min(0.99);
        if let Some(tell) = &mut self.tell {
            tell(share);
        }
    }
}
