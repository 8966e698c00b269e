//! Requests that Python hands over: Arrow streams and iterators, kept as a file that the simulator's readers read.

use crate::errors::exception;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use copyback_cli::api::{self, Failure};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyMapping};
use std::fs::File;
use std::sync::Arc;

/// Requests that were handed over, which runs may play for as long as this object lives.
#[pyclass(frozen, module = "copyback")]
pub struct Handed {
    handed: api::Handed,
}

#[pymethods]
impl Handed {
    /// What the simulator calls them.
    #[getter]
    fn name(&self) -> String {
        self.handed.name().display().to_string()
    }
}

/// Takes requests over: what has Arrow's PyCapsule protocol, or an iterable of tuples `(arrival_ns, op, offset_bytes,
/// length_bytes, device, priority)`, of which the last two may be left out, or of mappings with these keys.
#[pyfunction]
pub fn hand_over(py: Python<'_>, requests: &Bound<'_, PyAny>) -> PyResult<Handed> {
    let handed = match requests.hasattr("__arrow_c_stream__")? {
        true => {
            let mut reader = stream_of(requests)?;
            py.detach(move || write(reader.schema(), &mut reader))
        }
        false => {
            let rows = Rows::collect(requests)?;
            py.detach(move || {
                let batch = rows.batch();
                write(batch.schema(), &mut std::iter::once(Ok(batch)))
            })
        }
    };
    handed.map(|handed| Handed { handed }).map_err(|failure| exception(py, &failure))
}

/// The stream of an object that has one.
fn stream_of(requests: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = requests.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the protocol says that a capsule of this name holds such a stream, which is moved out, so that it is
    // released once.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Keeps batches as a file of the simulator.
fn write(
    schema: SchemaRef,
    batches: &mut dyn Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<api::Handed, Failure> {
    api::hand_over(|file: &mut File| {
        // It lives for as long as the runs, on a disk that is there: speed counts, and not its size.
        let properties = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
            .build();
        let mut write = || -> Result<(), ParquetError> {
            let mut writer = ArrowWriter::try_new(&mut *file, schema.clone(), Some(properties.clone()))?;
            for batch in &mut *batches {
                writer.write(&batch?)?;
            }
            writer.close().map(drop)
        };
        write().map_err(|error| Failure::input(format!("the requests cannot be kept: {error}")))
    })
}

/// Requests one by one.
#[derive(Default)]
struct Rows {
    arrival_ns: Vec<u64>,
    op: Vec<String>,
    offset_bytes: Vec<u64>,
    length_bytes: Vec<u64>,
    device: Vec<u32>,
    priority: Vec<String>,
}

const REQUIRED: [&str; 4] = ["arrival_ns", "op", "offset_bytes", "length_bytes"];

impl Rows {
    fn collect(requests: &Bound<'_, PyAny>) -> PyResult<Self> {
        let wanted = "requests are a path, what has Arrow's PyCapsule protocol (a data frame or table), or an iterable \
                      of tuples (arrival_ns, op, offset_bytes, length_bytes)";
        let items = requests.try_iter().map_err(|_| PyTypeError::new_err(wanted))?;
        let mut rows = Self::default();
        for (at, item) in items.enumerate() {
            rows.push(&item?).map_err(|error| {
                let py = requests.py();
                let named = PyValueError::new_err(format!("request {at}: {}", error.value(py)));
                named.set_cause(py, Some(error));
                named
            })?;
        }
        Ok(rows)
    }

    fn push(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(mapping) = item.cast::<PyMapping>() {
            let [arrival_ns, op, offset_bytes, length_bytes] = REQUIRED.map(|key| mapping.get_item(key));
            let optional = |key: &str| if mapping.contains(key)? { mapping.get_item(key).map(Some) } else { Ok(None) };
            let (device, priority) = (optional("device")?, optional("priority")?);
            return self.add([arrival_ns?, op?, offset_bytes?, length_bytes?], device, priority);
        }
        let mut parts: Vec<Bound<'_, PyAny>> = item.try_iter()?.collect::<PyResult<_>>()?;
        if !(4..=6).contains(&parts.len()) {
            return Err(PyValueError::new_err(format!("it has {} parts, and 4 to 6 are wanted", parts.len())));
        }
        let optional: Vec<_> = parts.drain(4..).collect();
        let required: [Bound<'_, PyAny>; 4] = parts.try_into().expect("four are left");
        let mut optional = optional.into_iter();
        self.add(required, optional.next(), optional.next())
    }

    fn add(
        &mut self,
        [arrival_ns, op, offset_bytes, length_bytes]: [Bound<'_, PyAny>; 4],
        device: Option<Bound<'_, PyAny>>,
        priority: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.arrival_ns.push(arrival_ns.extract()?);
        self.op.push(op.str()?.to_string());
        self.offset_bytes.push(offset_bytes.extract()?);
        self.length_bytes.push(length_bytes.extract()?);
        self.device.push(device.map_or(Ok(0), |device| device.extract())?);
        self.priority.push(priority.map_or(Ok("normal".to_owned()), |p| p.str().map(|text| text.to_string()))?);
        Ok(())
    }

    fn batch(self) -> RecordBatch {
        let columns: [(&str, DataType, ArrayRef); 6] = [
            ("arrival_ns", DataType::UInt64, Arc::new(UInt64Array::from(self.arrival_ns))),
            ("op", DataType::Utf8, Arc::new(StringArray::from(self.op))),
            ("offset_bytes", DataType::UInt64, Arc::new(UInt64Array::from(self.offset_bytes))),
            ("length_bytes", DataType::UInt64, Arc::new(UInt64Array::from(self.length_bytes))),
            ("device", DataType::UInt32, Arc::new(UInt32Array::from(self.device))),
            ("priority", DataType::Utf8, Arc::new(StringArray::from(self.priority))),
        ];
        let fields: Vec<Field> = columns.iter().map(|(name, kind, _)| Field::new(*name, kind.clone(), false)).collect();
        let arrays = columns.map(|(_, _, array)| array).into();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("the columns are of one length")
    }
}
