"""Cells of a sweep as tasks of a Dask cluster."""

from __future__ import annotations

import importlib
import importlib.util
import json
import uuid
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback import _copyback
from copyback._words import wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_TRIES = 3
"""The most times that files are sent for one cell: a worker lacks them, or the worker that had them is gone."""


def cell(description: str, sent: Mapping[str, bytes]) -> str:
    """Run a cell on a worker. Sent content is kept below the worker's folder, which it removes when it ends."""
    worker: Any = importlib.import_module("distributed").get_worker()
    return _copyback.cell(description, sent, worker.local_directory)


class Cluster:
    """The workers of a cluster, for one sweep."""

    def __init__(self, client: Any) -> None:
        """Use the workers of a ``distributed.Client``.

        Raises
        ------
        TypeError
            If ``client`` is another object.

        """
        if not all(hasattr(client, method) for method in ("map", "submit", "scatter", "scheduler_info")):
            message = f"client is {client!r}; it has to be a distributed.Client"
            raise TypeError(message)
        self._client = client
        self._futures: dict[Any, int] = {}
        self._sent: dict[str, Any] = {}

    def __call__(self, descriptions: Sequence[str]) -> Iterator[tuple[int, str | None, str | None]]:
        """Yield the number of each cell as it ends, with its answer or its error."""
        distributed: Any = importlib.import_module("distributed")
        if not self._client.scheduler_info().get("workers"):
            warnings.warn("the cluster has no workers yet: cells wait until one joins it", stacklevel=2)
        sweep = uuid.uuid4().hex
        keys = [f"copyback-cell-{sweep}-{at}" for at in range(len(descriptions))]
        first = self._client.map(cell, descriptions, sent={}, key=keys)
        self._futures = {future: at for at, future in enumerate(first)}
        tries = [0] * len(descriptions)
        waiting = distributed.as_completed(first)
        try:
            for future in waiting:
                at = self._futures.pop(future)
                answer = future.result() if future.status == "finished" else None
                lacking = _lacking(answer)
                # Sent content is lost with the worker that had it.
                is_gone = future.status in ("cancelled", "lost") and tries[at] > 0
                if (lacking or is_gone) and tries[at] < _TRIES:
                    tries[at] += 1
                    if is_gone:
                        self._sent.clear()
                    files = lacking or json.loads(descriptions[at])["files"]
                    sent = {hash: self._content(path, hash) for path, hash in files}
                    key = f"{keys[at]}-{tries[at]}"
                    again = self._client.submit(cell, descriptions[at], sent, key=key)
                    self._futures[again] = at
                    waiting.add(again)
                elif answer is not None:
                    yield at, answer, None
                elif future.status == "error":
                    yield at, None, _said(future.exception())
                else:
                    yield at, None, f"its task is {future.status}: a client cancelled it, or the scheduler is gone"
        finally:
            self.cancel()

    def _content(self, path: str, hash: str) -> Any:
        """Send a file to the cluster, once."""
        if hash not in self._sent:
            self._sent[hash] = self._client.scatter(Path(path).read_bytes(), hash=True)
        return self._sent[hash]

    def cancel(self) -> None:
        """Cancel the tasks that have not ended."""
        futures, self._futures, self._sent = list(self._futures), {}, {}
        if futures:
            self._client.cancel(futures)


def _lacking(answer: str | None) -> list[tuple[str, str]]:
    """Return paths and hashes of the files that the worker lacks, by its answer."""
    if answer is None or not answer.startswith('{"Lacking"'):
        return []
    files: list[tuple[str, str]] = json.loads(answer)["Lacking"]
    return files


def _said(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return f"each worker that ran it died: {error}"
    return f"its worker failed: {type(error).__name__}: {error}"


def connect(address: str) -> Cluster:
    """Connect to a scheduler; an ``InputError`` if Dask is missing, or no scheduler answers."""
    if importlib.util.find_spec("distributed") is None:
        raise wrong(f"--dask {address}: Dask is not installed", "pip install '.[dask]' in the repository")
    distributed: Any = importlib.import_module("distributed")
    try:
        return Cluster(distributed.Client(address))
    except (OSError, ValueError) as error:
        raise wrong(f"--dask {address}: no scheduler answers there: {error}", "name tcp://HOST:PORT of one") from error
