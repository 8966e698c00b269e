//! A program that calls this one hears how far it is, and may stop it.

use super::Screen;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The receiver of a command's progress updates.
#[derive(Clone, Debug, Default)]
pub enum Audience {
    /// Nobody.
    #[default]
    Nobody,
    /// The reader of a screen or of a log.
    Screen(Arc<dyn Screen>),
    /// A program.
    Program(Arc<Watch>),
    /// A program that hears of the whole, while this is a part of it.
    Silent(Arc<Watch>),
}

impl Audience {
    /// Whether a calling program has asked for the end.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Program(watch) | Self::Silent(watch) => watch.is_stopped(),
            Self::Screen(_) | Self::Nobody => false,
        }
    }

    /// What a bar shows to a program.
    pub(super) fn track(&self, name: &str, total: Option<u64>) -> Own {
        match self {
            Self::Program(watch) => Own { watch: Some(watch.clone()), at: Some(watch.begin(name, total)) },
            Self::Silent(watch) => Own { watch: Some(watch.clone()), at: None },
            Self::Screen(_) | Self::Nobody => Own { watch: None, at: None },
        }
    }
}

/// How far a part of the work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// What it is: a scheme, or what is counted.
    pub name: String,
    /// How much there is to be done, where that is known: requests, cells or cases.
    pub total: Option<u64>,
    /// How much of it is done.
    pub done: u64,
    /// Whether it has ended.
    pub is_over: bool,
}

/// What a calling program sees.
#[derive(Debug, Default)]
pub struct Watch {
    is_stopped: AtomicBool,
    tracks: Mutex<Vec<Track>>,
    /// What a log would hear, and the program has not heard yet.
    lines: Mutex<Vec<String>>,
}

impl Watch {
    /// Asks for the end; what goes on ends within some hundredths of a second.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// A line for whoever reads along.
    pub(super) fn tell(&self, line: &str) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    }

    /// What there is to be heard since the last time.
    pub fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How far all parts are, in the order in which they began.
    pub fn tracks(&self) -> Vec<Track> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Track>> {
        self.tracks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, name: &str, total: Option<u64>) -> usize {
        let mut tracks = self.lock();
        tracks.push(Track { name: name.to_owned(), total, done: 0, is_over: false });
        tracks.len() - 1
    }
}

thread_local! {
    /// Who may stop what this thread does, where it is in the hands of code that knows nothing of that.
    static HERE: RefCell<Audience> = const { RefCell::new(Audience::Nobody) };
}

/// Does some work of which each part may ask [`stop_here_if_asked`].
pub fn stoppable<T>(audience: &Audience, work: impl FnOnce() -> T) -> T {
    HERE.replace(audience.clone());
    let done = work();
    HERE.replace(Audience::Nobody);
    done
}

/// Unwinds if the program that called has asked for the end of what this thread does.
pub fn stop_here_if_asked() {
    if HERE.with_borrow(Audience::is_stopped) {
        copyback::run::stop();
    }
}

/// A bar's track.
pub(super) struct Own {
    watch: Option<Arc<Watch>>,
    at: Option<usize>,
}

impl Own {
    fn with(&self, change: impl FnOnce(&mut Track)) {
        if let Some((watch, at)) = self.watch.as_ref().zip(self.at) {
            change(&mut watch.lock()[at]);
        }
    }

    /// One more of what is counted is done.
    pub fn step(&self) {
        self.with(|track| track.done += 1);
    }

    /// It is a part of this name, of which so much of so much is done.
    pub fn measure(&self, name: &str, total: u64, done: u64) {
        self.with(|track| {
            if track.total.is_none() {
                *track = Track { name: name.to_owned(), total: Some(total), ..track.clone() };
            }
            track.done = done;
        });
    }

    /// So much is done.
    pub fn reach(&self, done: u64) {
        self.with(|track| track.done = done);
    }

    /// Ends the run that this is called from, if the program has asked for it.
    pub fn stop_if_asked(&self) {
        if self.watch.as_ref().is_some_and(|watch| watch.is_stopped()) {
            copyback::run::stop();
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.with(|track| track.is_over = true);
    }
}
