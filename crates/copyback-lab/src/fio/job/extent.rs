//! The addresses and the amount of a job: file, `size`, `offset`, `io_size`, `loops`.

use super::Subject;
use super::value_parser::ValueParser;
use crate::failure::Failure;
use crate::fio::parse::Opt;

/// Bytes, or a share: of the drive, of the file of the job, or, for `io_size`, of the region of the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BytesOrShare {
    Bytes(u64),
    Share(f64),
}

/// Addresses and amounts.
#[derive(Clone, Debug)]
pub struct Extent {
    pub size: Option<BytesOrShare>,
    pub file_bytes: Option<u64>,
    pub fills_device: bool,
    pub io_size: Option<BytesOrShare>,
    pub number_ios: Option<u64>,
    pub loops: u64,
    pub offset: BytesOrShare,
    pub increment: Option<BytesOrShare>,
    /// A start that is a share of the file is rounded up to a multiple of this.
    pub offset_align: Option<u64>,
    pub filename: Option<String>,
    pub filename_format: Option<String>,
    /// The option that sets the size.
    pub size_option: Option<Opt>,
}

impl Default for Extent {
    fn default() -> Self {
        Self {
            size: None,
            file_bytes: None,
            fills_device: false,
            io_size: None,
            number_ios: None,
            loops: 1,
            offset: BytesOrShare::Bytes(0),
            increment: None,
            offset_align: None,
            filename: None,
            filename_format: None,
            size_option: None,
        }
    }
}

impl Subject for Extent {
    fn set(&mut self, name: &str, opt: &Opt, read: ValueParser, _: &mut Vec<String>) -> Result<bool, Failure> {
        match name {
            "size" => {
                self.size = Some(read.part(opt, 100)?);
                self.size_option = Some(opt.clone());
            }
            "filesize" => {
                read.refuse_range(opt, "files of random sizes are not supported")?;
                self.file_bytes = Some(read.number(opt, 1..=u64::MAX)?);
                self.size_option = Some(opt.clone());
            }
            "fill_device" => self.fills_device = read.flag(opt)?,
            "io_size" => self.io_size = Some(read.part(opt, 1_000_000)?).filter(|part| *part != BytesOrShare::Bytes(0)),
            "number_ios" => self.number_ios = Some(read.number(opt, 1..=u64::MAX)?),
            "loops" => self.loops = read.number(opt, 1..=u64::from(u32::MAX))?,
            "offset" => self.offset = read.part(opt, 100)?,
            "offset_align" => self.offset_align = Some(read.number(opt, 0..=u64::MAX)?).filter(|bytes| *bytes > 0),
            "offset_increment" => self.increment = Some(read.part(opt, 100)?),
            "filename" => self.set_filename(opt)?,
            "filename_format" => self.filename_format = Some(opt.text()?.to_owned()),
            // These options of engines name the drive, as `filename` does.
            "libblkio_path" | "uri" | "rbdname" => {
                let name = opt.value.clone().unwrap_or_default();
                self.filename.get_or_insert(name);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extent {
    fn set_filename(&mut self, opt: &Opt) -> Result<(), Failure> {
        // A colon divides names, unless a backslash precedes it.
        let text = opt.text()?.replace("\\:", "\0");
        if text.contains(':') {
            return Err(opt.wrong(
                "a job on several files is not supported",
                "write a job for each of them; a colon that belongs to a name is written \\:",
            ));
        }
        self.filename = Some(text.replace('\0', ":"));
        Ok(())
    }
}
