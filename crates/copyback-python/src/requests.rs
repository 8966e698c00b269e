//! Requests that Python passes: Arrow streams and iterators, written to a file that the simulator's readers read.

use crate::calls;
use crate::columns;
use crate::errors::exception;
use crate::exit;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use copyback_cli::api::{self, Failure};
use pyo3::exceptions::{PyException, PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyCapsuleMethods, PyList, PyMapping, PyTuple};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel};
use std::time::Duration;

/// Requests from Python. Runs may replay them for as long as this object lives.
#[pyclass(frozen, module = "copyback")]
pub struct PassedRequests {
    passed: api::PassedTrace,
}

#[pymethods]
impl PassedRequests {
    /// The name by which commands refer to them.
    #[getter]
    fn name(&self) -> String {
        self.passed.name().display().to_string()
    }
}

/// Takes requests over. `requests` is an object with Arrow's PyCapsule protocol, or an iterable of tuples, mappings or
/// named tuples with the fields `(arrival_ns, op, offset_bytes, length_bytes, device, priority)`. `device` and
/// `priority` are optional. At most `most` requests of an iterable are taken.
#[pyfunction]
#[pyo3(signature = (requests, most = None))]
pub fn pass_requests(py: Python<'_>, requests: &Bound<'_, PyAny>, most: Option<u64>) -> PyResult<PassedRequests> {
    if requests.hasattr("__arrow_c_stream__")? {
        let stream = stream_of(requests)?;
        return RequestWriter::begin(stream.schema(), stream)?.wait(py);
    }
    let (sender, receiver) = sync_channel(BATCHES_WAITING);
    let writer = RequestWriter::begin(Rows::schema(), receiver.into_iter().map(Ok))?;
    Rows::collect(requests, most.unwrap_or(ROWS_MAX), |batch| give(py, &sender, batch))?;
    drop(sender);
    writer.wait(py)
}

/// Sends a batch to the writing thread, and handles Ctrl-C while the queue is full. Returns whether the batch was
/// taken.
fn give(py: Python<'_>, sender: &SyncSender<RecordBatch>, batch: RecordBatch) -> PyResult<bool> {
    let mut waiting = batch;
    loop {
        match sender.try_send(waiting) {
            Ok(()) => return Ok(true),
            Err(TrySendError::Disconnected(_)) => return Ok(false),
            Err(TrySendError::Full(batch)) => waiting = batch,
        }
        py.check_signals()?;
        py.detach(|| std::thread::sleep(ROOM_TICK));
    }
}

/// How long to sleep before looking again whether the queue is full.
const ROOM_TICK: Duration = Duration::from_millis(2);
/// Batches of an iterable that wait to be written.
const BATCHES_WAITING: usize = 4;
/// Requests in a batch of an iterable.
const BATCH_ROWS: usize = 65_536;
/// Requests between two moments at which signals are handled and other threads may take the interpreter.
const ROWS_PER_SIGNAL_CHECK: u64 = 4_096;
/// The most requests of an iterable if the caller sets no limit, because an iterable may never end. They take 3.4
/// gigabytes of disk, 50 bytes each.
const ROWS_MAX: u64 = 1 << 26;

/// Requests that a thread of its own writes to a file, while the calling thread handles signals.
struct RequestWriter {
    is_stopped: Arc<AtomicBool>,
    done: Receiver<Result<api::PassedTrace, Failure>>,
}

impl RequestWriter {
    fn begin(
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    ) -> PyResult<Self> {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (sender, done) = channel();
        let (own, writing) = (is_stopped.clone(), exit::ActiveWriter::begin());
        std::thread::Builder::new().name("copyback-requests".into()).spawn(move || {
            let mut batches = batches.take_while(|_| !own.load(Ordering::Relaxed));
            // If the call was interrupted, the receiver is gone.
            let _ = sender.send(write(schema, &mut batches));
            drop(writing);
        })?;
        Ok(Self { is_stopped, done })
    }

    /// Waits for the file, and handles Ctrl-C meanwhile.
    fn wait(mut self, py: Python<'_>) -> PyResult<PassedRequests> {
        loop {
            match calls::receive(py, &mut self.done, calls::TICK) {
                Ok(passed) => {
                    return passed.map(|passed| PassedRequests { passed }).map_err(|failure| exception(py, &failure));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let broken = Failure::input("the requests cannot be kept: their batches are not of one schema");
                    return Err(exception(py, &broken));
                }
            }
            if let Err(interrupted) = py.check_signals() {
                self.is_stopped.store(true, Ordering::Relaxed);
                return Err(interrupted);
            }
        }
    }
}

/// The Arrow stream of an object that has one.
fn stream_of(requests: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = requests.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the protocol says that a capsule of this name holds such a stream, which is moved out, so that it is
    // released once.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Writes batches to a file of the simulator.
fn write(
    schema: SchemaRef,
    batches: &mut dyn Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<api::PassedTrace, Failure> {
    api::pass_requests(|file: &mut File| {
        columns::write(file, &schema, batches)
            .map_err(|error| Failure::input(format!("the requests cannot be kept: {error}")))
    })
}

/// Requests of an iterable, as the columns of the next batch.
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
    /// Iterates over an iterable, and sends its requests batch by batch, until the receiver takes no more.
    fn collect(
        requests: &Bound<'_, PyAny>,
        most: u64,
        mut take: impl FnMut(RecordBatch) -> PyResult<bool>,
    ) -> PyResult<()> {
        let py = requests.py();
        let wanted = "requests are a path, what has Arrow's PyCapsule protocol (a data frame or table), or an iterable \
                      of tuples (arrival_ns, op, offset_bytes, length_bytes)";
        let is_text = requests.is_instance_of::<PyBytes>() || requests.is_instance_of::<PyByteArray>();
        let items = if is_text { Err(PyTypeError::new_err("bytes")) } else { requests.try_iter() };
        let mut items = items.map_err(|_| {
            let kind = requests.get_type().name().map_or_else(|_| "this object".to_owned(), |name| name.to_string());
            exception(
                py,
                &Failure::input(format!("`trace` has no requests: it is of the type {kind}")).with_help(wanted),
            )
        })?;
        let (mut rows, mut at) = (Self::default(), 0);
        while at < most {
            let Some(item) = items.next() else { break };
            rows.push(&item?).map_err(|error| of_request(py, at, error))?;
            at += 1;
            if at.is_multiple_of(ROWS_PER_SIGNAL_CHECK) {
                py.check_signals()?;
                // An iterator written in C would let no other thread run.
                py.detach(std::thread::yield_now);
            }
            if rows.op.len() == BATCH_ROWS && !take(std::mem::take(&mut rows).batch())? {
                return Ok(());
            }
        }
        if at == ROWS_MAX {
            let message = format!(
                "the iterable has more than {ROWS_MAX} requests, or never ends: set requests=..., or pass an Arrow \
                                   stream or a file"
            );
            return Err(exception(py, &Failure::input(message)));
        }
        take(rows.batch()).map(drop)
    }

    fn push(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        if !item.is_exact_instance_of::<PyTuple>() && !item.is_exact_instance_of::<PyList>() {
            if item.is_instance_of::<PyTuple>() && item.hasattr(intern!(item.py(), "_fields"))? {
                let required = REQUIRED.map(|name| item.getattr(name));
                let optional = |name: &str| item.getattr_opt(name);
                return self.add_named(required, optional("device")?, optional("priority")?);
            }
            if let Ok(mapping) = item.cast::<PyMapping>() {
                let required = REQUIRED.map(|key| {
                    mapping.get_item(key).map_err(|error| match error.is_instance_of::<PyKeyError>(item.py()) {
                        true => PyValueError::new_err(format!("it has no `{key}`")),
                        false => error,
                    })
                });
                let optional =
                    |key: &str| if mapping.contains(key)? { mapping.get_item(key).map(Some) } else { Ok(None) };
                return self.add_named(required, optional("device")?, optional("priority")?);
            }
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

    fn add_named<'py>(
        &mut self,
        [arrival_ns, op, offset_bytes, length_bytes]: [PyResult<Bound<'py, PyAny>>; 4],
        device: Option<Bound<'py, PyAny>>,
        priority: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        self.add([arrival_ns?, op?, offset_bytes?, length_bytes?], device, priority)
    }

    fn add(
        &mut self,
        [arrival_ns, op, offset_bytes, length_bytes]: [Bound<'_, PyAny>; 4],
        device: Option<Bound<'_, PyAny>>,
        priority: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.arrival_ns.push(whole("arrival_ns", &arrival_ns)?);
        self.op.push(op.str()?.to_string());
        self.offset_bytes.push(whole("offset_bytes", &offset_bytes)?);
        self.length_bytes.push(whole("length_bytes", &length_bytes)?);
        self.device.push(device.map_or(Ok(0), |device| whole("device", &device))?);
        self.priority.push(priority.map_or(Ok("normal".to_owned()), |p| p.str().map(|text| text.to_string()))?);
        Ok(())
    }

    fn schema() -> SchemaRef {
        Self::default().batch().schema()
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

/// A field of a request.
fn whole<'py, T: for<'a> FromPyObject<'a, 'py>>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T> {
    value.extract().map_err(|_| {
        let shown = value.repr().map_or_else(|_| "no number".to_owned(), |shown| shown.to_string());
        PyValueError::new_err(format!("`{name}` is {shown}; use a whole number from 0 on"))
    })
}

/// Adds the position of the request to an error. Exceptions that ask the program to end pass unchanged.
fn of_request(py: Python<'_>, at: u64, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let help =
        "a request is (arrival_ns, op, offset_bytes, length_bytes), and may have device and priority after these";
    let named = exception(py, &Failure::input(format!("request {at}: {}", error.value(py))).with_help(help));
    named.set_cause(py, Some(error));
    named
}
