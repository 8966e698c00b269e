//! fio's options: understood, without effect on a drive, or refused, each with the reason.

use copyback::config::layers::nearest;

/// How an option is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// It changes the requests, or the results that are shown.
    Understood,
    /// It has no effect on a drive; the reason.
    WithoutEffect(&'static str),
    /// It flushes the drive's write buffer.
    Flush,
    /// Only these values are understood: why not others, and what to write instead.
    Only(&'static [&'static str], &'static str, &'static str),
}

use Meaning::{Flush, Only, Understood, WithoutEffect};

/// An option: its names, fio's own first, and what it is.
pub type Known = (&'static [&'static str], Meaning);

const CACHE: Meaning = WithoutEffect("there is no page cache");
const PROCESS: Meaning = WithoutEffect("the host's work takes no time");
const FILES: Meaning = WithoutEffect("there are no files");
const DATA: Meaning = WithoutEffect("a drive's speed does not depend on its data");
const CHECKS: Meaning = WithoutEffect("data is not simulated, so that no check of it fails");
const LOGS: Meaning = WithoutEffect("no logs are written in fio's formats: use --out and --out-requests");
const SERVER: Meaning = WithoutEffect("requests go to no other machine: the drive serves them itself");
const ZONES: Meaning = Only(&[], "the drive has no zones that are written in order", "leave it out, with zonemode=zbd");
const PLACEMENT: Meaning = Only(&["0"], "the drive places data by itself (no FDP)", "leave it out");
const COMMAND: &str = "only plain reads, writes and trims are simulated";
const OF_FLOW: Meaning = Only(&["0"], "no job waits for the progress of another", "give the jobs rates: rate_iops=N");
const TARGET: Meaning = Only(&["0"], "the depth does not follow the latency", "vary iodepth with `copyback sweep`");
const STEADY: Meaning = WithoutEffect("a job runs its whole time; `--warmup steady` waits for a steady state");
const RATE_FLOOR: Meaning = WithoutEffect("a job that is too slow is not stopped");

/// Every option of fio, by subject.
pub const OPTIONS: &[Known] = &[
    // Jobs.
    (&["name"], Understood),
    (&["description"], WithoutEffect("it only describes the job")),
    (&["kb_base"], Understood),
    (&["unit_base"], WithoutEffect("it changes only fio's text output")),
    (&["loops"], Understood),
    (&["numjobs"], Understood),
    (&["runtime", "timeout"], Understood),
    (&["time_based"], Understood),
    (&["startdelay"], Understood),
    (&["ramp_time"], Understood),
    (&["ramp_size"], Only(&["0"], "a ramp has a time, not a size", "write ramp_time=TIME")),
    (&["stonewall", "wait_for_previous"], Understood),
    (&["wait_for"], Understood),
    (&["new_group"], Understood),
    (&["group_reporting"], Understood),
    (&["exitall"], WithoutEffect("each job runs to its own end: give the others a runtime")),
    (&["exit_what"], WithoutEffect("each job runs to its own end: give the others a runtime")),
    (&["exitall_on_error"], WithoutEffect("no request fails")),
    (&["continue_on_error"], WithoutEffect("no request fails")),
    (&["ignore_error"], WithoutEffect("no request fails")),
    (&["error_dump"], WithoutEffect("no request fails")),
    (&["stats"], WithoutEffect("every job is measured")),
    (&["profile"], Only(&[], "built-in profiles are not known", "write the jobs of the profile")),
    // What is asked for.
    (&["rw", "readwrite"], Understood),
    (&["rw_sequencer"], Understood),
    (&["rwmixread"], Understood),
    (&["rwmixwrite"], Understood),
    (&["rwmixcycle"], WithoutEffect("fio itself no longer uses it")),
    (&["bs", "blocksize"], Understood),
    (&["bsrange", "blocksize_range"], Understood),
    (&["bssplit"], Understood),
    (
        &["bs_unaligned", "blocksize_unaligned"],
        Only(&["0"], "a drive takes whole sectors of 512 bytes", "leave it out"),
    ),
    (&["bs_is_seq_rand"], Understood),
    (&["ba", "blockalign"], Understood),
    (&["size"], Understood),
    (&["io_size", "io_limit"], Understood),
    (&["filesize"], Understood),
    (&["fill_device", "fill_fs"], Understood),
    (&["file_append"], Only(&["0"], "there are no files that grow", "write offset=SIZE")),
    (&["number_ios"], Understood),
    (&["offset", "fileoffset"], Understood),
    (&["offset_increment"], Understood),
    (&["offset_align"], Understood),
    (&["randrepeat", "allrandrepeat"], Understood),
    (&["randseed"], Understood),
    (&["norandommap"], Understood),
    (&["softrandommap"], WithoutEffect("there is always room for the map of blocks")),
    (&["random_generator"], WithoutEffect("random streams are this program's own")),
    (&["random_distribution"], Understood),
    (&["random_sequence_stride"], Understood),
    (&["percentage_random"], Understood),
    (&["percentage_sequential"], WithoutEffect("fio itself no longer uses it")),
    (&["sprandom"], Only(&["0"], "a drive is filled by its own preconditioning", "set precondition.* instead")),
    (&["spr_num_regions"], WithoutEffect("it belongs to sprandom")),
    (&["spr_op"], WithoutEffect("it belongs to sprandom")),
    (&["spr_cs"], WithoutEffect("it belongs to sprandom")),
    (&["num_range"], Only(&["1"], "a trim has one range", "leave it out")),
    // How it is asked for.
    (&["ioengine"], Understood),
    (&["iodepth"], Understood),
    (
        &["iodepth_batch", "iodepth_batch_submit"],
        WithoutEffect("requests begin one by one, as soon as the depth allows"),
    ),
    (
        &["iodepth_batch_complete_min", "iodepth_batch_complete"],
        WithoutEffect("a request begins as soon as another one ends"),
    ),
    (&["iodepth_batch_complete_max"], WithoutEffect("a request begins as soon as another one ends")),
    (&["iodepth_low"], WithoutEffect("a request begins as soon as another one ends: the queue stays full")),
    (&["serialize_overlap"], Only(&["0"], "requests do not wait for others that overlap", "leave it out")),
    (&["io_submit_mode"], PROCESS),
    (&["rate"], Understood),
    (&["rate_iops"], Understood),
    (&["rate_process"], Understood),
    (&["rate_min", "ratemin"], RATE_FLOOR),
    (&["rate_iops_min"], RATE_FLOOR),
    (&["rate_cycle", "ratecycle"], RATE_FLOOR),
    (&["rate_ignore_thinktime"], Only(&["0"], "requests that are late after a think time catch up", "leave it out")),
    (&["thinktime"], Understood),
    (&["thinktime_blocks"], Understood),
    (&["thinktime_blocks_type"], Only(&["complete"], "thinking begins when requests have ended", "leave it out")),
    (&["thinktime_iotime"], Only(&["0"], "thinking begins after a number of requests", "write thinktime_blocks=N")),
    (&["thinktime_spin"], WithoutEffect("thinking takes the same time either way")),
    (&["thinkcycles"], PROCESS),
    (&["latency_target"], TARGET),
    (&["latency_window"], WithoutEffect("it belongs to latency_target")),
    (&["latency_percentile"], WithoutEffect("it belongs to latency_target")),
    (&["latency_run"], WithoutEffect("it belongs to latency_target")),
    (&["max_latency"], WithoutEffect("no request is stopped for being slow")),
    (&["flow"], OF_FLOW),
    (&["flow_id"], WithoutEffect("it belongs to flow")),
    (&["flow_sleep"], WithoutEffect("it belongs to flow")),
    (&["flow_watermark"], WithoutEffect("it belongs to flow")),
    (&["steadystate", "ss"], STEADY),
    (&["steadystate_duration", "ss_dur"], STEADY),
    (&["steadystate_ramp_time", "ss_ramp"], STEADY),
    (&["steadystate_check_interval", "ss_interval"], STEADY),
    (&["prio"], Understood),
    (&["prioclass"], Understood),
    (&["priohint"], WithoutEffect("schemes know urgent requests and others, no hints")),
    (&["cmdprio_percentage"], Understood),
    (&["cmdprio_class"], Understood),
    (&["cmdprio"], WithoutEffect("schemes know urgent requests and others, no levels")),
    (&["cmdprio_hint"], WithoutEffect("schemes know urgent requests and others, no hints")),
    (
        &["cmdprio_bssplit"],
        Only(&[], "priorities do not depend on the block size", "write cmdprio_percentage=N, or a job for each size"),
    ),
    // Files.
    (&["filename"], Understood),
    (&["filename_format"], Understood),
    (&["unique_filename"], FILES),
    (&["filetype"], FILES),
    (&["directory"], FILES),
    (&["opendir"], Only(&[], "there are no files to be found", "name one file: filename=NAME, with a size")),
    (&["nrfiles", "nr_files"], Only(&["1"], "only nrfiles=1 is understood", "write a job for each file")),
    (&["openfiles"], FILES),
    (&["file_service_type"], FILES),
    (&["lockfile"], Only(&["none"], "jobs do not lock each other out", "let one job wait_for the other")),
    (&["fallocate"], FILES),
    (&["fadvise_hint"], CACHE),
    (&["allow_file_create"], FILES),
    (&["allow_mounted_write"], FILES),
    (&["create_on_open"], FILES),
    (&["create_serialize"], FILES),
    (&["create_fsync"], FILES),
    (&["create_only"], Only(&["0"], "a job that only creates files sends no requests to the drive", "remove it")),
    (&["overwrite"], FILES),
    (&["pre_read"], CACHE),
    (&["unlink"], FILES),
    (&["unlink_each_loop"], FILES),
    (&["ioscheduler"], WithoutEffect("the host has no scheduler of requests")),
    (&["direct"], CACHE),
    (&["buffered"], CACHE),
    (&["invalidate"], CACHE),
    (&["atomic"], WithoutEffect("every write is atomic: no power is lost")),
    (&["uncached"], CACHE),
    // Flushes.
    (&["fsync"], Flush),
    (&["fdatasync"], Flush),
    (&["sync"], Flush),
    (&["sync_file_range"], CACHE),
    (&["write_barrier"], Flush),
    (&["end_fsync"], Flush),
    (&["end_syncfs"], Flush),
    (&["fsync_on_close"], Flush),
    (&["readfua"], Flush),
    (&["writefua"], Flush),
    // Zones of a drive, and strides.
    (&["zonemode"], Understood),
    (&["zonesize"], Understood),
    (&["zonerange"], Understood),
    (&["zoneskip"], Understood),
    (&["zonecapacity"], ZONES),
    (&["read_beyond_wp"], ZONES),
    (&["max_open_zones"], ZONES),
    (&["job_max_open_zones"], ZONES),
    (&["ignore_zone_limits"], ZONES),
    (&["zone_reset_threshold"], ZONES),
    (&["zone_reset_frequency"], ZONES),
    (&["recover_zbd_write_error"], ZONES),
    (&["write_zone_remainder", "write_zone_remainders"], ZONES),
    (&["fdp"], PLACEMENT),
    (&["dataplacement", "data_placement"], Only(&["none"], "the drive places data by itself", "leave it out")),
    (&["plid_select", "fdp_pli_select"], PLACEMENT),
    (&["plids", "fdp_pli"], PLACEMENT),
    (&["dp_scheme"], PLACEMENT),
    (&["stream_id"], PLACEMENT),
    (&["write_hint"], WithoutEffect("the drive places data by itself")),
    // Data and their verification.
    (&["verify"], Understood),
    (&["do_verify"], Understood),
    (&["verify_only"], Only(&["0"], "fio writes nothing then, and data is not simulated", "write rw=read")),
    (&["verify_backlog"], Only(&["0"], "blocks are read back after all writes, not between them", "leave it out")),
    (&["verify_backlog_batch"], CHECKS),
    (&["verify_policy"], CHECKS),
    (&["verifysort"], CHECKS),
    (&["verifysort_nr"], CHECKS),
    (&["verify_interval"], CHECKS),
    (&["verify_offset"], CHECKS),
    (&["verify_pattern"], CHECKS),
    (&["verify_pattern_interval"], CHECKS),
    (&["verify_fatal"], CHECKS),
    (&["verify_dump"], CHECKS),
    (&["verify_async"], CHECKS),
    (&["verify_async_cpus"], CHECKS),
    (&["verify_state_save"], CHECKS),
    (&["verify_state_load"], CHECKS),
    (&["experimental_verify"], CHECKS),
    (&["verify_write_sequence"], CHECKS),
    (&["verify_header_seed"], CHECKS),
    (
        &["trim_percentage"],
        Only(&["0"], "a job cannot trim a share of its blocks", "write rw=trimwrite, or a job that trims"),
    ),
    (&["trim_verify_zero"], CHECKS),
    (&["trim_backlog"], CHECKS),
    (&["trim_backlog_batch"], CHECKS),
    (&["refill_buffers"], DATA),
    (&["scramble_buffers"], DATA),
    (&["zero_buffers"], DATA),
    (&["buffer_pattern"], DATA),
    (&["buffer_compress_percentage"], DATA),
    (&["buffer_compress_chunk"], DATA),
    (&["dedupe_percentage"], DATA),
    (&["dedupe_global"], DATA),
    (&["dedupe_mode"], DATA),
    (&["dedupe_working_set_percentage"], DATA),
    // Logs that are replayed or written.
    (&["read_iolog"], Understood),
    (&["replay_no_stall"], Understood),
    (&["replay_time_scale"], Understood),
    (&["replay_redirect"], WithoutEffect("a log is replayed on the drive, not on the devices that it names")),
    (&["replay_align"], Understood),
    (&["replay_scale"], Only(&["0", "1"], "addresses are not divided", "convert the log: `copyback trace convert`")),
    (&["replay_skip"], Only(&[], "a log is replayed whole", "remove the lines of the log that are to be skipped")),
    (&["read_iolog_chunked"], PROCESS),
    (&["merge_blktrace_file"], Only(&[], "traces are not merged here", "give each trace a job of its own")),
    (&["merge_blktrace_scalars"], WithoutEffect("it belongs to merge_blktrace_file")),
    (&["merge_blktrace_iters"], WithoutEffect("it belongs to merge_blktrace_file")),
    (&["write_iolog"], LOGS),
    (&["write_bw_log"], LOGS),
    (&["write_lat_log"], LOGS),
    (&["write_iops_log"], LOGS),
    (&["write_hist_log"], LOGS),
    (&["per_job_logs"], LOGS),
    (&["log_entries"], LOGS),
    (&["log_avg_msec"], LOGS),
    (&["log_hist_msec"], LOGS),
    (&["log_hist_coarseness"], LOGS),
    (&["log_window_value", "log_max_value"], LOGS),
    (&["log_offset"], LOGS),
    (&["log_prio"], LOGS),
    (&["log_issue_time"], LOGS),
    (&["log_compression"], LOGS),
    (&["log_compression_cpus"], LOGS),
    (&["log_store_compressed"], LOGS),
    (&["log_alternate_epoch", "log_unix_epoch"], LOGS),
    (&["log_alternate_epoch_clock_id"], LOGS),
    // Results.
    (&["percentile_list"], Understood),
    (&["clat_percentiles"], Understood),
    (&["lat_percentiles"], Understood),
    (&["slat_percentiles"], WithoutEffect("the host's work takes no time")),
    (&["significant_figures"], WithoutEffect("it changes only fio's text output")),
    (&["block_error_percentiles"], WithoutEffect("no request fails")),
    (&["bwavgtime"], WithoutEffect("samples are of 500 ms, fio's default")),
    (&["iopsavgtime"], WithoutEffect("samples are of 500 ms, fio's default")),
    (&["unified_rw_reporting"], WithoutEffect("reads, writes and trims are always reported separately")),
    (&["disk_util"], WithoutEffect("there is no disk of the host")),
    (&["disable_lat"], WithoutEffect("response times are always measured")),
    (&["disable_clat"], WithoutEffect("response times are always measured")),
    (&["disable_slat"], WithoutEffect("response times are always measured")),
    (&["disable_bw_measurement", "disable_bw"], WithoutEffect("bandwidth is always measured")),
    (&["gtod_reduce"], PROCESS),
    (&["gtod_cpu"], PROCESS),
    (&["eta"], WithoutEffect("it changes only fio's text output")),
    (&["output-format"], WithoutEffect("--fio-json FILE writes fio's JSON")),
    // Processes and memory of the host.
    (&["thread", "threads"], PROCESS),
    (&["comm"], PROCESS),
    (&["clocksource"], WithoutEffect("time is simulated")),
    (&["job_start_clock_id"], WithoutEffect("time is simulated")),
    (&["cpumask"], PROCESS),
    (&["cpus_allowed"], PROCESS),
    (&["cpus_allowed_policy"], PROCESS),
    (&["numa_cpu_nodes"], PROCESS),
    (&["numa_mem_policy"], PROCESS),
    (&["nice"], PROCESS),
    (&["uid"], PROCESS),
    (&["gid"], PROCESS),
    (&["cgroup"], PROCESS),
    (&["cgroup_nodelete"], PROCESS),
    (&["cgroup_weight"], PROCESS),
    (&["exec_prerun"], WithoutEffect("no other program is started")),
    (&["exec_postrun"], WithoutEffect("no other program is started")),
    (&["mem", "iomem"], PROCESS),
    (&["iomem_align", "mem_align"], PROCESS),
    (&["hugepage-size"], PROCESS),
    (&["lockmem"], PROCESS),
    (&["gpu_dev_id"], PROCESS),
    // Of one engine.
    (&["hipri"], PROCESS),
    (&["hipri_percentage"], PROCESS),
    (&["fixedbufs"], PROCESS),
    (&["nonvectored"], PROCESS),
    (&["force_async"], PROCESS),
    (&["registerfiles"], PROCESS),
    (&["sqthread_poll"], PROCESS),
    (&["sqthread_poll_cpu"], PROCESS),
    (&["userspace_reap"], PROCESS),
    (&["libaio_vectored"], PROCESS),
    (&["nowait"], PROCESS),
    (&["no_completion_thread"], PROCESS),
    (&["cmd_type"], PROCESS),
    (&["cdb_len"], PROCESS),
    (&["md_per_io_size"], WithoutEffect("metadata of blocks is not simulated")),
    (&["pi_act"], WithoutEffect("metadata of blocks is not simulated")),
    (&["pi_chk"], WithoutEffect("metadata of blocks is not simulated")),
    (&["apptag"], WithoutEffect("metadata of blocks is not simulated")),
    (&["apptag_mask"], WithoutEffect("metadata of blocks is not simulated")),
    (&["write_mode"], Only(&["write"], COMMAND, "leave it out")),
    (&["read_mode"], Only(&["read"], COMMAND, "leave it out")),
    (&["verify_mode"], Only(&["read"], COMMAND, "leave it out")),
    (&["verify_bytchk"], CHECKS),
    (&["sg_write_mode"], Only(&["write"], COMMAND, "leave it out")),
    (&["xnvme_async"], PROCESS),
    (&["xnvme_sync"], PROCESS),
    (&["xnvme_admin"], PROCESS),
    (&["xnvme_dev_nsid"], PROCESS),
    (&["xnvme_dev_subnqn"], PROCESS),
    (&["xnvme_mem"], PROCESS),
    (&["xnvme_iovec"], PROCESS),
    (&["libblkio_driver"], PROCESS),
    (&["libblkio_path"], Understood),
    (&["libblkio_pre_connect_props"], PROCESS),
    (&["libblkio_num_entries"], PROCESS),
    (&["libblkio_queue_size"], PROCESS),
    (&["libblkio_pre_start_props"], PROCESS),
    (&["libblkio_vectored"], PROCESS),
    (&["libblkio_write_zeroes_on_trim"], PROCESS),
    (&["libblkio_wait_mode"], PROCESS),
    (&["libblkio_force_enable_completion_eventfd"], PROCESS),
    (&["gpu_dev_ids"], PROCESS),
    (&["cuda_io"], PROCESS),
    (&["rocm_io"], PROCESS),
    (&["uri"], Understood),
    (&["rbdname"], Understood),
    (&["clustername"], SERVER),
    (&["clientname"], SERVER),
    (&["conf"], SERVER),
    (&["busy_poll"], SERVER),
    (&["touch_objects"], SERVER),
    (&["rbd_encryption_format"], SERVER),
    (&["rbd_encryption_passphrase"], SERVER),
    (&["pool"], SERVER),
    (&["cont"], SERVER),
    (&["chunk_size"], SERVER),
    (&["object_class"], SERVER),
    (&["svcl"], SERVER),
    (&["volume"], SERVER),
    (&["brick"], SERVER),
    (&["nfs_url"], SERVER),
    (&["single-instance"], SERVER),
];

/// An option by one of its names; `None` if fio has no such option.
pub fn find(key: &str) -> Option<&'static Known> {
    OPTIONS.iter().find(|(names, _)| names.contains(&key))
}

/// The name of an option of fio that is most like a word.
pub fn like(key: &str) -> Option<&'static str> {
    nearest(key, OPTIONS.iter().flat_map(|(names, _)| names.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Lists of names in lines of at most 120 characters.
    fn list(title: &str, is_in: impl Fn(&Meaning) -> bool) -> String {
        let names = OPTIONS.iter().filter(|(_, meaning)| is_in(meaning)).map(|(names, _)| format!("`{}`", names[0]));
        let mut line = title.to_owned();
        let mut text = String::new();
        for word in names.collect::<Vec<_>>().join(", ").split(' ') {
            if line.len() + word.len() + 1 > 120 {
                text += &format!("{line}\n");
                line = word.to_owned();
            } else {
                line += &format!(" {word}");
            }
        }
        text + &line + ".\n"
    }

    #[test]
    fn the_manual_has_every_option() {
        let text = [
            list("**Understood:**", |meaning| *meaning == Understood),
            list("**Accepted with a note, as they ask nothing of the drive:**", |meaning| {
                matches!(meaning, WithoutEffect(_))
            }),
            list("**Accepted with a note if the drive has no write buffer, and refused if it has one:**", |meaning| {
                *meaning == Flush
            }),
            list("**Refused, unless they are off or have their usual value:**", |meaning| matches!(meaning, Only(..))),
        ]
        .join("\n");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md");
        let page = std::fs::read_to_string(path).unwrap();
        let start = page.find("<!-- fio options").and_then(|at| Some(at + page[at..].find('\n')? + 1)).unwrap();
        let end = page.find("<!-- end of fio options").unwrap();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, format!("{}\n{text}\n{}", &page[..start], &page[end..])).unwrap();
        } else {
            assert_eq!(page[start..end].trim(), text.trim(), "UPDATE_DOCS=1 writes what is understood now");
        }
    }

    #[test]
    fn no_option_is_listed_twice() {
        let mut names: Vec<&str> = OPTIONS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// All options that the installed fio lists are known; without fio this is not tested.
    #[test]
    fn every_option_that_fio_lists_is_known() {
        let listed = |arguments: &[&str]| {
            let output = Command::new("fio").args(arguments).output();
            if output.is_err() {
                assert!(std::env::var_os("COPYBACK_NEEDS_FIO").is_none(), "fio is missing; install it");
                eprintln!("not tested: there is no fio");
            }
            let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
            let name = |line: &str| Some(line.split_once(':')?.0.trim().to_owned());
            text.lines().filter_map(name).collect::<Vec<_>>()
        };
        let mut all = listed(&["--cmdhelp=all"]);
        for engine in ["io_uring", "io_uring_cmd", "libaio", "pvsync2", "sg", "nbd", "rbd", "gfapi"] {
            all.extend(listed(&[&format!("--enghelp={engine}")]));
        }
        let unknown: Vec<_> = all.iter().filter(|name| find(name).is_none() && !name.contains(' ')).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
