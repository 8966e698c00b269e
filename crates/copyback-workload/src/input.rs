//! Opens a trace's file, and unpacks it: compression and tar.
//!
//! Compression is recognised by magic bytes, never by a file's name, and may be nested. The ratio of unpacked to packed
//! data and the memory of a decompressor have limits, because a trace may come from an untrusted source.

use crate::words::nearest;
use crate::{Error, passed_traces, per_cpu, standard_input};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The unpacked bytes.
pub(crate) type ByteStream = Box<dyn Read + Send>;

/// Largest number of nested wrappers; more is an accident or an attack.
const WRAPPERS_MAX: usize = 4;

/// Largest ratio of unpacked to packed size. A text trace compresses to between a tenth and a fiftieth. A stream of
/// zeros compresses to a thousandth and less, and could take days to read.
const EXPANSION_MAX: u64 = 1000;

/// Unpacked size below which that ratio is not checked: so little is read quickly, and a short trace with few different
/// lines may compress better than others.
const EXPANSION_FREE_BYTES: u64 = 64 << 20;

/// Largest allocation of the xz decompressor. Its strongest preset needs 65 MiB; a damaged header may request 4 GiB.
#[cfg(feature = "xz")]
const XZ_MEMORY_BYTES_MAX: u64 = 256 << 20;

/// A tar header is one such block, and file contents are padded to it.
const TAR_BLOCK_BYTES: usize = 512;

/// Notes on the wrappers; readers share the list and add to it while they read.
pub(crate) type SharedNotes = Arc<Mutex<Vec<String>>>;

/// Opens a file. The error suggests a similar name.
pub(crate) fn open_file(path: &Path) -> Result<File, Error> {
    if let Some(kept) = passed_traces::file(path) {
        return File::open(&kept).map_err(|error| Error::new(format!("{}: {error}", path.display())));
    }
    if standard_input::is_named(path) {
        let kept = standard_input::kept()?;
        return File::open(&kept).map_err(|error| Error::new(format!("{}: {error}", standard_input::SHOWN)));
    }
    let shown = path.display();
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let error = Error::new(format!("{shown}: there is no such file"));
            match nearest_file(path) {
                Some(near) => error.with_help(format!("did you mean {near}?")),
                None => error.with_help("give the trace's path, from where the program runs"),
            }
        }
        _ => Error::new(format!("{shown}: {error}")),
    })?;
    if metadata.is_dir() {
        return Err(Error::new(format!("{shown} is a directory, not a trace")).with_help("name a file in it"));
    }
    File::open(path).map_err(|error| Error::new(format!("{shown}: {error}")))
}

/// The file that a mistyped path may mean, by the rule of [`nearest`]. Files of several CPUs are one trace, which their
/// base name opens.
pub fn nearest_file(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    // Sorted, so that messages do not depend on the file system.
    let names: BTreeSet<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| per_cpu::base_name(&name).to_owned())
        .collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(if folder == Path::new(".") { near.to_owned() } else { folder.join(near).display().to_string() })
}

/// Unpacks compression and tar, as long as there is any.
pub(crate) fn unwrap(stream: ByteStream, notes: &SharedNotes) -> Result<ByteStream, io::Error> {
    let packed_bytes = Arc::new(AtomicU64::new(0));
    let mut stream: ByteStream = Box::new(Packed { inner: stream, packed_bytes: packed_bytes.clone() });
    for _ in 0..=WRAPPERS_MAX {
        let (head, whole) = peek(stream, TAR_BLOCK_BYTES)?;
        stream = whole;
        let Some((name, unwrapped)) = unwrap_one(&head, &mut stream, notes)? else { return Ok(stream) };
        add_note(notes, format!("unwrapped {name}"));
        stream = Box::new(Unpacked { inner: unwrapped, unpacked_bytes: 0, packed_bytes: packed_bytes.clone() });
    }
    let message = format!("it is compressed or archived more than {WRAPPERS_MAX} times");
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

fn unwrap_one(
    head: &[u8],
    stream: &mut ByteStream,
    notes: &SharedNotes,
) -> Result<Option<(&'static str, ByteStream)>, io::Error> {
    let mut take = || BufReader::with_capacity(1 << 17, std::mem::replace(stream, Box::new(io::empty())));
    let (name, unwrapped): (_, ByteStream) = if head.starts_with(&[0x1f, 0x8b]) {
        ("gzip", Box::new(flate2::bufread::MultiGzDecoder::new(take())))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        ("zstd", Box::new(zstd::stream::read::Decoder::with_buffer(take())?))
    } else if head.starts_with(b"BZh") && head.get(4..10) == Some(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59]) {
        ("bzip2", Box::new(bzip2::bufread::MultiBzDecoder::new(take())))
    } else if head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        ("xz", unpacked_xz(take())?)
    } else if head.get(257..262) == Some(b"ustar") {
        ("tar", Box::new(TarContent::new(take(), notes.clone())))
    } else {
        return Ok(None);
    };
    Ok(Some((name, unwrapped)))
}

/// The content of one xz stream after the other.
#[cfg(feature = "xz")]
fn unpacked_xz(packed: BufReader<ByteStream>) -> Result<ByteStream, io::Error> {
    let flags = liblzma::stream::CONCATENATED;
    let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_BYTES_MAX, flags)?;
    Ok(Box::new(liblzma::bufread::XzDecoder::new_stream(packed, stream)))
}

#[cfg(not(feature = "xz"))]
fn unpacked_xz(_packed: BufReader<ByteStream>) -> Result<ByteStream, io::Error> {
    let message =
        "this build of the program cannot unpack xz: unpack the file (xz -dk), or build with `--features full`";
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

/// The file's own bytes, counted.
struct Packed {
    inner: ByteStream,
    packed_bytes: Arc<AtomicU64>,
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read_bytes = self.inner.read(buffer)?;
        self.packed_bytes.fetch_add(read_bytes as u64, Ordering::Relaxed);
        Ok(read_bytes)
    }
}

/// The output of a wrapper, compared with the bytes of the file read so far.
struct Unpacked {
    inner: ByteStream,
    unpacked_bytes: u64,
    packed_bytes: Arc<AtomicU64>,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read_bytes = self.inner.read(buffer).map_err(explain_memory)?;
        self.unpacked_bytes += read_bytes as u64;
        let packed_bytes = self.packed_bytes.load(Ordering::Relaxed);
        if self.unpacked_bytes > EXPANSION_FREE_BYTES && self.unpacked_bytes / EXPANSION_MAX > packed_bytes {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{packed_bytes} bytes of the file unpack to more than {EXPANSION_MAX} times as many: that is probably no trace; if it is one, unpack it yourself"
                ),
            ));
        }
        Ok(read_bytes)
    }
}

/// An error of a decompressor, with its remedy.
fn explain_memory(error: io::Error) -> io::Error {
    #[cfg(feature = "xz")]
    if let Some(liblzma::stream::Error::MemLimit) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
        let memory = crate::units::format_bytes(XZ_MEMORY_BYTES_MAX);
        let message = format!("unpacking this xz file takes more than {memory} of memory: unpack it yourself");
        return io::Error::new(io::ErrorKind::InvalidData, message);
    }
    error
}

/// The first bytes (fewer at the end of the stream), and a stream that begins with them.
pub(crate) fn peek(mut stream: ByteStream, len_bytes: usize) -> Result<(Vec<u8>, ByteStream), io::Error> {
    let mut head = Vec::with_capacity(len_bytes);
    stream.by_ref().take(len_bytes as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(stream))))
}

pub(crate) fn add_note(notes: &SharedNotes, note: String) {
    // A poisoned lock means that another thread failed while noting; its notes are still whole strings.
    notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(note);
}

/// The contents of a tar archive's files, one after the other, without headers and padding.
struct TarContent<R> {
    inner: R,
    content_left_bytes: u64,
    padding_bytes: u64,
    ended: bool,
    notes: SharedNotes,
}

impl<R: Read> TarContent<R> {
    fn new(inner: R, notes: SharedNotes) -> Self {
        Self { inner, content_left_bytes: 0, padding_bytes: 0, ended: false, notes }
    }

    /// Goes to the next file's content; `false` at the archive's end.
    fn next_content(&mut self) -> io::Result<bool> {
        loop {
            self.skip(self.padding_bytes)?;
            let mut header = [0; TAR_BLOCK_BYTES];
            if !read_whole(&mut self.inner, &mut header)? || header.iter().all(|byte| *byte == 0) {
                return Ok(false);
            }
            let size_bytes = tar_size(&header)?;
            let padding_bytes = size_bytes.next_multiple_of(TAR_BLOCK_BYTES as u64) - size_bytes;
            if matches!(header[156], b'0' | 0) {
                self.content_left_bytes = size_bytes;
                self.padding_bytes = padding_bytes;
                return Ok(true);
            }
            // A folder, a long name or extended attributes: no content of a file.
            self.padding_bytes = size_bytes + padding_bytes;
        }
    }

    fn skip(&mut self, len_bytes: u64) -> io::Result<()> {
        self.padding_bytes = 0;
        io::copy(&mut self.inner.by_ref().take(len_bytes), &mut io::sink()).map(|_| ())
    }
}

impl<R: Read> Read for TarContent<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended {
            if self.content_left_bytes == 0 && !self.next_content()? {
                self.ended = true;
                break;
            }
            let want_bytes = buffer.len().min(usize::try_from(self.content_left_bytes).unwrap_or(usize::MAX));
            if want_bytes == 0 {
                // An empty file, or an empty buffer.
                if buffer.is_empty() {
                    return Ok(0);
                }
                continue;
            }
            let read_bytes = self.inner.read(&mut buffer[..want_bytes])?;
            self.content_left_bytes -= read_bytes as u64;
            if read_bytes == 0 {
                // Some published slices of traces begin with the archive's header: the available part is used, with a
                // note.
                let missing = crate::units::format_bytes(self.content_left_bytes);
                add_note(&self.notes, format!("the tar archive ends {missing} before its header says"));
                self.ended = true;
            }
            return Ok(read_bytes);
        }
        Ok(0)
    }
}

/// Fills the buffer; `false` if the stream ends before.
fn read_whole(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match stream.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The size in a tar header: octal digits, or a binary number if the first bit is set (above 8 GiB).
fn tar_size(header: &[u8; TAR_BLOCK_BYTES]) -> io::Result<u64> {
    let field = &header[124..136];
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a tar header's size field is damaged");
    if field[0] & 0x80 != 0 {
        let size = field[4..].iter().fold(0_u64, |size, byte| (size << 8) | u64::from(*byte));
        return if size >> 62 == 0 { Ok(size) } else { Err(damaged()) };
    }
    let mut size_bytes = 0_u64;
    for byte in field.iter().skip_while(|byte| **byte == b' ') {
        match byte {
            b'0'..=b'7' => size_bytes = size_bytes * 8 + u64::from(byte - b'0'),
            b' ' | 0 => break,
            _ => return Err(damaged()),
        }
    }
    Ok(size_bytes)
}
