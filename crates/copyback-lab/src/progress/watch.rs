//! Progress for a calling program, which may stop the work.

use super::Screen;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Receives progress updates.
#[derive(Clone, Debug, Default)]
pub enum ProgressSink {
    /// Discards updates.
    #[default]
    Discard,
    /// Shows updates on a screen or in a log.
    Screen(Arc<dyn Screen>),
    /// Reports updates to a calling program, which may stop the work.
    Program(Arc<Watch>),
    /// A part of reported work: discards updates, and the program may stop it.
    Part(Arc<Watch>),
}

impl ProgressSink {
    /// Whether a calling program has requested the end.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Program(watch) | Self::Part(watch) => watch.is_stopped(),
            Self::Screen(_) | Self::Discard => false,
        }
    }

    /// Begins a track for a calling program.
    pub(super) fn track(&self, name: &str, total: Option<u64>) -> BarTrack {
        match self {
            Self::Program(watch) => BarTrack { watch: Some(watch.clone()), at: Some(watch.begin(name, total)) },
            Self::Part(watch) => BarTrack { watch: Some(watch.clone()), at: None },
            Self::Screen(_) | Self::Discard => BarTrack { watch: None, at: None },
        }
    }
}

/// Progress of a part of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Its name: a scheme, or the things that are counted.
    pub name: String,
    /// The number of requests, cells or cases, if that is known.
    pub total: Option<u64>,
    /// The number that has ended.
    pub done: u64,
    /// Whether it has ended.
    pub is_over: bool,
}

/// The view of a calling program on its work.
#[derive(Debug, Default)]
pub struct Watch {
    is_stopped: AtomicBool,
    tracks: Mutex<Vec<Track>>,
    /// Log lines that the program has not taken yet.
    lines: Mutex<Vec<String>>,
}

impl Watch {
    /// Requests the end; the work ends within some hundredths of a second.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Adds a log line.
    pub(super) fn log(&self, line: &str) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    }

    /// The log lines since the last call.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The progress of all parts, in the order in which they began.
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
    /// The sink of the work on this thread, for code that has no argument for it.
    static THREAD_SINK: RefCell<ProgressSink> = const { RefCell::new(ProgressSink::Discard) };
}

/// Does some work whose parts may call [`stop_thread_if_requested`].
pub fn stoppable<T>(sink: &ProgressSink, work: impl FnOnce() -> T) -> T {
    THREAD_SINK.replace(sink.clone());
    let done = work();
    THREAD_SINK.replace(ProgressSink::Discard);
    done
}

/// Unwinds if the calling program has requested the end of this thread's work.
pub fn stop_thread_if_requested() {
    if THREAD_SINK.with_borrow(ProgressSink::is_stopped) {
        copyback::run::stop();
    }
}

/// A bar's track.
pub(super) struct BarTrack {
    watch: Option<Arc<Watch>>,
    at: Option<usize>,
}

impl BarTrack {
    fn with(&self, change: impl FnOnce(&mut Track)) {
        if let Some((watch, at)) = self.watch.as_ref().zip(self.at) {
            change(&mut watch.lock()[at]);
        }
    }

    /// One more of the counted things has ended.
    pub fn step(&self) {
        self.with(|track| track.done += 1);
    }

    /// Sets the progress; on a track without a total, also the name and the total.
    pub fn measure(&self, name: &str, total: u64, done: u64) {
        self.with(|track| {
            if track.total.is_none() {
                *track = Track { name: name.to_owned(), total: Some(total), ..track.clone() };
            }
            track.done = done;
        });
    }

    /// Sets the progress.
    pub fn reach(&self, done: u64) {
        self.with(|track| track.done = done);
    }

    /// Ends the calling run if the program has requested it.
    pub fn stop_if_requested(&self) {
        if self.watch.as_ref().is_some_and(|watch| watch.is_stopped()) {
            copyback::run::stop();
        }
    }
}

impl Drop for BarTrack {
    fn drop(&mut self) {
        self.with(|track| track.is_over = true);
    }
}
