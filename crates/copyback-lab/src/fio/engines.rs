//! fio's engines: synchronous, asynchronous, or without a drive.

use copyback::config::layers::nearest;

/// How an engine issues requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// One request at a time, instead of `iodepth`.
    pub is_synchronous: bool,
    /// Storage behind a network; only the drive is simulated.
    pub is_remote: bool,
}

/// Engines that wait for each request.
const SYNCHRONOUS: &[&str] = &[
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "splice",
    "libcufile",
    "libhipfile",
    "libpmem",
    "dev-dax",
    "pmemblk",
];

/// Engines that have `iodepth` requests outstanding.
const ASYNCHRONOUS: &[&str] = &[
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "solarisaio",
    "windowsaio",
    "sg",
    "null",
    "cpp_null",
    "spdk",
    "spdk_bdev",
    "spdk_nvme",
    "xnvme",
    "libblkio",
    "libzbc",
    "guasi",
    "nvme",
];

/// Other names of engines, as fio 3.33 takes them.
const ALIASES: &[(&str, &str)] = &[("aio", "libaio"), ("linuxaio", "libaio")];

/// Block devices and files behind a network; whether each has several requests outstanding.
const REMOTE: &[(&str, bool)] = &[
    ("nbd", true),
    ("rbd", true),
    ("libiscsi", true),
    ("nfs", true),
    ("dfs", true),
    ("gfapi_async", true),
    ("gfapi", false),
    ("ime_aio", true),
    ("ime_psync", false),
    ("ime_psyncv", false),
];

/// Engines that ask no drive for blocks, and what they do instead.
const OTHERS: &[(&[&str], &str)] = &[
    (&["cpuio"], "it keeps a processor busy, and sends no requests to a drive"),
    (&["exec"], "it starts a program and asks no drive"),
    (&["page_fault"], "it touches memory and asks no drive"),
    (&["net", "netsplice", "rdma"], "it sends data over a network, and no requests to a drive"),
    (&["http", "rados", "libhdfs"], "it sends requests to an object store, not to a drive"),
    (
        &["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"],
        "it works on names of a file system, and requests no blocks of a drive",
    ),
    (&["falloc", "ftruncate", "e4defrag"], "it works on the layout of a file system, which is not simulated"),
    (&["mtd"], "it drives bare flash, without the controller that is simulated"),
];

/// The engine of this name; or why it cannot be simulated, and what to write instead.
pub fn find(name: &str) -> Result<Engine, (String, String)> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, engine)| engine);
    if SYNCHRONOUS.contains(&name) {
        return Ok(Engine { is_synchronous: true, is_remote: false });
    }
    // Known external engines are asynchronous.
    if ASYNCHRONOUS.contains(&name) || name.starts_with("external:") {
        return Ok(Engine { is_synchronous: false, is_remote: false });
    }
    if let Some((_, is_asynchronous)) = REMOTE.iter().find(|(known, _)| *known == name) {
        return Ok(Engine { is_synchronous: !is_asynchronous, is_remote: true });
    }
    let write = "write ioengine=libaio for several requests at a time, or ioengine=psync for one";
    if let Some((_, why)) = OTHERS.iter().find(|(names, _)| names.contains(&name)) {
        return Err(((*why).to_owned(), format!("remove this job; to send requests to the drive, {write}")));
    }
    let all = SYNCHRONOUS.iter().chain(ASYNCHRONOUS).copied().chain(REMOTE.iter().map(|(name, _)| *name));
    let help = match nearest(name, all) {
        Some(near) => format!("did you mean `{near}`? Or {write}"),
        None => write.to_owned(),
    };
    Err(("fio has no engine of this name".to_owned(), help))
}
