//! Checks the lengths that a Parquet file states.
//!
//! The footer and the pages' headers are structures of Thrift's compact protocol. The library trusts them: it loops
//! over the stated number of list elements, and allocates the stated unpacked size of a page, before it checks that the
//! bytes exist. A few damaged bytes could keep it busy for minutes or fill the memory. This module detects them.

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Largest unpacked size of a page. Writers begin a new page after some 1 MiB.
const PAGE_BYTES_MAX: i64 = 256 << 20;

/// Largest size of a page's header. In addition to four numbers, it has the page's least and greatest value.
const PAGE_HEADER_BYTES_MAX: u64 = 1 << 16;

/// Brotli is read in pieces of this size.
#[cfg(feature = "brotli")]
const BROTLI_BUFFER_BYTES: usize = 1 << 14;

/// Largest nesting of structures; Parquet needs fewer than ten levels.
const DEPTH_MAX: u32 = 32;

/// What follows the footer: its length and the magic number.
const TAIL_BYTES: u64 = 8;

/// The mistake in a file; the caller adds the file's name.
pub type Mistake = String;

/// Checks the footer. The library refuses files that are not Parquet.
///
/// # Errors
/// The impossible length.
pub fn check_footer(file: &mut File) -> Result<(), Mistake> {
    let footer = read_footer(file).map_err(|error| error.to_string())?;
    let Some(footer) = footer else { return Ok(()) };
    let whole = Walker { rest: &footer }.structure(DEPTH_MAX);
    whole.map(|_| ()).ok_or_else(|| "its footer has an impossible end, list or depth".to_owned())
}

fn read_footer(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let file_bytes = file.seek(SeekFrom::End(0))?;
    let Some(tail_at) = file_bytes.checked_sub(TAIL_BYTES) else { return Ok(None) };
    file.seek(SeekFrom::Start(tail_at))?;
    let mut len_bytes = [0; 4];
    file.read_exact(&mut len_bytes)?;
    let len_bytes = u32::from_le_bytes(len_bytes);
    let Some(footer_at) = tail_at.checked_sub(u64::from(len_bytes)) else { return Ok(None) };
    file.seek(SeekFrom::Start(footer_at))?;
    let mut footer = Vec::new();
    file.take(u64::from(len_bytes)).read_to_end(&mut footer)?;
    Ok(Some(footer))
}

/// Checks the headers of all pages of some columns of a row group, given by index and name.
///
/// # Errors
/// The column, and the impossible length.
pub fn check_pages<'a>(
    file: &mut File,
    group: &RowGroupMetaData,
    columns: impl Iterator<Item = (usize, &'a str)>,
) -> Result<(), Mistake> {
    for (at, name) in columns {
        let column = group.columns().get(at).ok_or_else(|| format!("its column `{name}` is missing in a row group"))?;
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let len_bytes = column.compressed_size();
        let (Ok(start), Ok(len_bytes)) = (u64::try_from(start), u64::try_from(len_bytes)) else {
            return Err(format!("its column `{name}` begins or ends before the file does"));
        };
        check_column(file, start, len_bytes, column).map_err(|wrong| format!("in its column `{name}`, {wrong}"))?;
    }
    Ok(())
}

fn check_column(file: &mut File, start: u64, len_bytes: u64, column: &ColumnChunkMetaData) -> Result<(), Mistake> {
    let mut at = start;
    let mut left_bytes = len_bytes;
    let mut header = Vec::new();
    while left_bytes > 0 {
        header.clear();
        let header_bytes_max = left_bytes.min(PAGE_HEADER_BYTES_MAX);
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.take(header_bytes_max).read_to_end(&mut header));
        read.map_err(|error| error.to_string())?;
        let page = page(&header).filter(|page| page.whole_bytes() <= left_bytes);
        let page = page.ok_or_else(|| format!("the page at byte {at} has an impossible header"))?;
        if unpacks_beyond(file, at, &page, column.compression()).map_err(|error| error.to_string())? {
            return Err(format!("the page at byte {at} unpacks to more than its header says"));
        }
        at += page.whole_bytes();
        left_bytes -= page.whole_bytes();
    }
    Ok(())
}

/// Whether a page unpacks to more than its header says. The library trusts gzip and Brotli streams, and a few bytes of
/// Brotli can fill any memory; the other codecs stop at the size in the page's header. The library refuses pages that
/// cannot be unpacked at all.
fn unpacks_beyond(file: &mut File, page_at: u64, page: &Page, codec: Compression) -> io::Result<bool> {
    file.seek(SeekFrom::Start(page_at + page.header_bytes + page.levels_bytes))?;
    let packed = file.take(page.packed_bytes - page.levels_bytes);
    let limit_bytes = page.unpacked_bytes.saturating_sub(page.levels_bytes);
    let unpacked: Box<dyn Read> = match codec {
        Compression::GZIP(_) => Box::new(flate2::bufread::MultiGzDecoder::new(io::BufReader::new(packed))),
        #[cfg(feature = "brotli")]
        Compression::BROTLI(_) => Box::new(brotli::Decompressor::new(packed, BROTLI_BUFFER_BYTES)),
        _ => return Ok(false),
    };
    let counted = io::copy(&mut unpacked.take(limit_bytes + 1), &mut io::sink());
    Ok(counted.is_ok_and(|unpacked_bytes| unpacked_bytes > limit_bytes))
}

/// The fields of a page's header.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    header_bytes: u64,
    packed_bytes: u64,
    unpacked_bytes: u64,
    /// The uncompressed bytes before the values, in the second version of a page.
    levels_bytes: u64,
}

impl Page {
    fn whole_bytes(&self) -> u64 {
        self.header_bytes + self.packed_bytes
    }
}

/// The page that begins with these bytes; `None` if the header is invalid.
fn page(header: &[u8]) -> Option<Page> {
    let mut walker = Walker { rest: header };
    let page = walker.structure(DEPTH_MAX)?;
    let header_bytes = (header.len() - walker.rest.len()) as u64;
    let (unpacked_bytes, packed_bytes) = (page.numbers[2], page.numbers[3]);
    // A value of a dictionary takes four bytes or eight, and a text four for its length.
    let dictionary_bytes_min = page.dictionary_values.checked_mul(4)?;
    if !(0..=PAGE_BYTES_MAX).contains(&unpacked_bytes) || dictionary_bytes_min > unpacked_bytes {
        return None;
    }
    let (unpacked_bytes, packed_bytes) = (u64::try_from(unpacked_bytes).ok()?, u64::try_from(packed_bytes).ok()?);
    let levels_bytes = u64::try_from(page.levels_bytes).ok().filter(|bytes| *bytes <= packed_bytes)?;
    packed_bytes.checked_add(header_bytes)?;
    Some(Page { header_bytes, packed_bytes, unpacked_bytes, levels_bytes })
}

/// The fields of a structure that are used.
#[derive(Default)]
struct Structure {
    /// The 32-bit numbers of its first fields, by the field's number; zero if absent. In a page's header, 2 is its
    /// uncompressed size in bytes, 3 is its size in the file.
    numbers: [i64; 7],
    /// Of a page's header: the first number of its field 7, which counts a dictionary's values.
    dictionary_values: i64,
    /// Of a page's header: the fifth and sixth number of its field 8, the bytes of a second-version page's levels.
    levels_bytes: i64,
}

/// Kinds of values in the compact protocol.
mod kind {
    pub const STOP: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const STRUCT: u8 = 12;
}

/// The field that only the header of a dictionary page has.
const DICTIONARY_FIELD: i64 = 7;

/// The field that only the header of a second-version page has.
const SECOND_VERSION_FIELD: i64 = 8;

/// Parses values; every step is `None` if they are invalid.
struct Walker<'a> {
    rest: &'a [u8],
}

impl Walker<'_> {
    fn structure(&mut self, depth: u32) -> Option<Structure> {
        let depth = depth.checked_sub(1)?;
        let mut structure = Structure::default();
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            let kind = head & 0xf;
            if kind == kind::STOP {
                return Some(structure);
            }
            // Fields are counted from the previous one, or numbered if they are too far from it.
            field = if head >> 4 == 0 { self.signed()? } else { field.checked_add(i64::from(head >> 4))? };
            let number = usize::try_from(field).ok().and_then(|field| structure.numbers.get_mut(field));
            match (kind, number) {
                (kind::I32, Some(number)) => *number = self.signed()?,
                (kind::STRUCT, _) if field == DICTIONARY_FIELD => {
                    structure.dictionary_values = self.structure(depth)?.numbers[1];
                }
                (kind::STRUCT, _) if field == SECOND_VERSION_FIELD => {
                    let [.., definitions_bytes, repetitions_bytes] = self.structure(depth)?.numbers;
                    structure.levels_bytes = definitions_bytes.checked_add(repetitions_bytes)?;
                }
                _ => self.skip(kind, depth)?,
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            kind::TRUE | kind::FALSE => Some(()),
            kind::BYTE => self.bytes(1),
            kind::I16 | kind::I32 | kind::I64 => self.unsigned().map(|_| ()),
            kind::DOUBLE => self.bytes(8),
            kind::BINARY => {
                let len_bytes = self.unsigned()?;
                self.bytes(len_bytes)
            }
            kind::LIST | kind::SET => self.list(depth),
            kind::STRUCT => self.structure(depth).map(|_| ()),
            // Parquet has no maps.
            _ => None,
        }
    }

    fn list(&mut self, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        let kind = head & 0xf;
        // Every element takes at least a byte, except booleans, as the library reads them. No list in Parquet's footers
        // and page headers has booleans.
        let is_possible = count <= self.rest.len() as u64 && !matches!(kind, kind::TRUE | kind::FALSE);
        if count > 0 && !is_possible {
            return None;
        }
        (0..count).try_for_each(|_| self.skip(kind, depth))
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn bytes(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// A number in groups of seven bits, the lowest first.
    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A number whose lowest bit is its sign.
    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page's header: fields 2 and 3 as 32-bit numbers, then the given bytes, then the end.
    fn header(unpacked_bytes: u8, packed_bytes: u8, more: &[u8]) -> Vec<u8> {
        [&[0x25, 2 * unpacked_bytes, 0x15, 2 * packed_bytes], more, &[0]].concat()
    }

    #[test]
    fn a_header_says_where_the_next_page_begins() {
        let page_bytes = |header: &[u8]| page(header).map(|page| page.whole_bytes());
        assert_eq!(page_bytes(&header(50, 40, &[])), Some(5 + 40));
        // Field 7, a dictionary of twelve values; then field 8, a list of two texts.
        assert_eq!(page_bytes(&header(50, 40, &[0x4c, 0x15, 24, 0])), Some(9 + 40));
        assert_eq!(page_bytes(&header(50, 40, &[0x59, 0x28, 1, b'x', 0])), Some(10 + 40));
        // Field 8 of a page of the second version: its fields 5 and 6 are the bytes of levels.
        let second = page(&header(50, 40, &[0x5c, 0x55, 6, 0x15, 4, 0])).unwrap();
        assert_eq!((second.header_bytes, second.levels_bytes), (11, 5));
    }

    #[test]
    fn impossible_lengths_are_found() {
        // A dictionary of thirteen values in fifty bytes.
        assert_eq!(page(&header(50, 40, &[0x4c, 0x15, 26, 0])), None);
        // A page that unpacks to 2 GiB less one byte.
        assert_eq!(page(&[0x25, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 2, 0]), None);
        // A list with more elements than bytes; and a list of booleans, which take no bytes.
        assert_eq!(page(&header(50, 40, &[0x59, 0xf3, 0xff, 0xff, 0x7f])), None);
        assert_eq!(page(&header(50, 40, &[0x59, 0xf1, 1])), None);
        // Endlessly nested structures.
        assert_eq!(page(&[0x1c; 100]), None);
        // A header that is cut off.
        assert_eq!(page(&[0x25, 100, 0x15]), None);
        assert_eq!(page(&[]), None);
    }
}
