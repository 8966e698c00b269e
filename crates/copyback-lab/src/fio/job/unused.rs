//! Notes on options of a job that have no effect on its requests.

use super::Job;
use crate::fio::options;
use crate::fio::parse::Opt;

/// Options that share a reason: their first names, whether they have no effect, and the reason.
type Unused = (&'static [&'static str], bool, &'static str);

impl Job {
    /// Notes the options of the job's own section that have no effect. Those of `[global]` may be for other jobs.
    pub(super) fn note_unused(&mut self, own: &[Opt]) {
        let notes: Vec<String> = self
            .unused()
            .into_iter()
            .filter(|(_, is_unused, _)| *is_unused)
            .flat_map(|(names, _, why)| {
                let is_of = |opt: &&Opt| options::find(&opt.key).is_some_and(|(known, _)| names.contains(&known[0]));
                // What is off asks for nothing.
                let set = own.iter().filter(is_of).filter(|opt| opt.value.as_deref() != Some("0"));
                set.map(move |opt| format!("`{}` has no effect: {why}", opt.key))
            })
            .collect();
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    fn unused(&self) -> Vec<Unused> {
        if self.replay.iolog.is_some() {
            return Vec::new();
        }
        let Self { pattern, pace, places, .. } = self;
        let [reads, writes, _] = pattern.ops;
        let of_random: &[&str] =
            &["random_distribution", "percentage_random", "norandommap", "ba", "random_sequence_stride"];
        vec![
            (&["rwmixread", "rwmixwrite"], !(reads && writes), "the job does not mix reads and writes"),
            (of_random, !pattern.is_random, "the job's requests are sequential"),
            (&["rw_sequencer"], pattern.modifier.run_length.is_none(), "no number follows a colon in `rw`"),
            (&["bs_is_seq_rand"], self.has_one_given_size(), "all requests have one size"),
            (&["rate_process"], !pace.has_rate(), "the job has no `rate` or `rate_iops`"),
            (&["thinktime_blocks"], pace.think_ns == 0, "the job has no `thinktime`"),
            (&["zonerange"], places.strides.size.is_none(), "the job has no `zonesize`"),
            (&["offset_align"], !self.begins_at_share(), "the job does not begin at a share (`offset=50%`)"),
            (&["offset_increment"], self.schedule.count == 1, "the job has no clones (`numjobs`)"),
            (&["verify"], !(writes || pattern.trims_first), "the job writes nothing that could be read back"),
            (&["do_verify"], !self.verification.is_on, "the job has no `verify`"),
            (&["replay_time_scale", "replay_no_stall", "replay_align"], true, "the job replays no log (`read_iolog`)"),
        ]
    }

    /// Whether options give all operations one size.
    fn has_one_given_size(&self) -> bool {
        let [reads, writes, trims] = &self.sizes.given;
        reads == writes && writes == trims
    }
}
