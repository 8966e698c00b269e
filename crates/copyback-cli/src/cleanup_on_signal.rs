//! Removes temporary files when a signal ends the program.

#[cfg(unix)]
pub use unix::watch;

/// On other systems, a signal ends the program without a cleanup.
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

    /// Starts a thread that waits for these signals; returns when it is ready.
    ///
    /// A signal handler may neither lock nor free memory, so a thread does the work; `ctrlc` does not report which
    /// signal came. The program then dies of that signal, so that the shell reports 130 or 143 and stops its script.
    pub fn watch() {
        outlive_limits();
        let (ready, is_ready) = mpsc::channel();
        let wait = move || {
            // Signals that are ignored (nohup, a shell's background) stay ignored.
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
        // Without the thread, signals have their default effect.
        if std::thread::Builder::new().name("signals".into()).spawn(wait).is_ok() {
            let _ = is_ready.recv();
        }
    }

    /// Ignores SIGXFSZ: a write beyond `ulimit -f` then fails with an error that names the file. The signal would kill
    /// the program and leave temporary files.
    fn outlive_limits() {
        // SAFETY: no handler is installed; the signal is ignored from here on.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    fn is_ignored(signal: i32) -> bool {
        let mut now = std::mem::MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action the call changes nothing; it fills `now` if it returns 0.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr()) == 0
                && now.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }
}
