//! Ctrl-C, and whatever else asks the program to end: temporary files go with it.

#[cfg(unix)]
pub use unix::watch;

/// Other systems end the program as they do.
#[cfg(not(unix))]
pub fn watch() {}

#[cfg(unix)]
mod unix {
    use copyback_workload::temporary;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    use std::sync::mpsc;

    /// Ctrl-C, `kill`, and a terminal that is closed.
    const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

    /// Has a thread wait for signals that end the program; returns when it waits.
    ///
    /// The crate is `signal-hook`: in a handler itself next to nothing may be done, no lock taken and no memory freed,
    /// so that a thread has to do it; `ctrlc` has such a thread, too, but does not say which signal came, and the exit
    /// code depends on it. The program then dies of the signal, as it would without any of this: the shell says 130 or
    /// 143, and knows that its script is to stop, which an exit with these codes would not tell it.
    pub fn watch() {
        outlive_limits();
        let (ready, is_ready) = mpsc::channel();
        let wait = move || {
            // What is ignored (nohup, a shell's background) stays ignored.
            let Ok(mut signals) = Signals::new(ENDING.into_iter().filter(|signal| !is_ignored(*signal))) else {
                return;
            };
            let _ = ready.send(());
            if let Some(signal) = signals.forever().next() {
                let _held = temporary::remove_all();
                let _ = emulate_default_handler(signal);
                std::process::exit(128 + signal);
            }
        };
        // Without another thread signals do what they do by default.
        if std::thread::Builder::new().name("signals".into()).spawn(wait).is_ok() {
            let _ = is_ready.recv();
        }
    }

    /// Where a file may not grow any further (`ulimit -f`), the write fails, and its error names the file: the signal
    /// that comes first would end the program without a word, and leave its temporary files.
    fn outlive_limits() {
        // SAFETY: no handler is installed; the signal is ignored from here on.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    fn is_ignored(signal: i32) -> bool {
        let mut now = std::mem::MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action the call changes nothing; it fills `now` where it returns 0.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr()) == 0
                && now.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }
}
