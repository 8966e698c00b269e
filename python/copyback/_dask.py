"""Cells of a sweep as tasks of a Dask cluster."""

from __future__ import annotations

import importlib
import importlib.util
import uuid
from typing import TYPE_CHECKING, Any

from copyback import _copyback

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def cell(description: str) -> str:
    """Run a cell, on a worker."""
    return _copyback.cell(description)


class Crew:
    """The workers of a cluster, for one sweep."""

    def __init__(self, client: Any) -> None:
        """Have a ``distributed.Client``."""
        self._client = client
        self._futures: list[Any] = []

    def __call__(self, descriptions: Sequence[str]) -> Iterator[tuple[int, str | None, str | None]]:
        """Yield the number of each cell as it is done, with its answer, or why there is none."""
        sweep = uuid.uuid4().hex
        keys = [f"copyback-cell-{sweep}-{at}" for at in range(len(descriptions))]
        self._futures = self._client.map(cell, descriptions, key=keys)
        numbers = {future.key: at for at, future in enumerate(self._futures)}
        distributed = importlib.import_module("distributed")
        try:
            for future in distributed.as_completed(self._futures):
                if future.status == "finished":
                    yield numbers[future.key], future.result(), None
                elif future.status == "error":
                    yield numbers[future.key], None, _said(future.exception())
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Give up what waits."""
        futures, self._futures = self._futures, []
        if futures:
            self._client.cancel(futures)


def _said(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return f"workers died of it, again and again: {error}"
    return f"its worker failed: {type(error).__name__}: {error}"


def hire(address: str) -> Crew:
    """Find the crew of a scheduler; an ``InputError`` where Dask is missing, or nobody answers."""
    if importlib.util.find_spec("distributed") is None:
        raise _wrong(f"--dask {address}: Dask is not installed", "pip install '.[dask]' in the repository")
    distributed: Any = importlib.import_module("distributed")
    try:
        return Crew(distributed.Client(address))
    except (OSError, ValueError) as error:
        raise _wrong(f"--dask {address}: no scheduler answers there: {error}", "name tcp://HOST:PORT of one") from error


def _wrong(message: str, help: str) -> _copyback.InputError:
    error = _copyback.InputError(f"{message}\nhelp: {help}")
    error.message, error.help = message, help
    error.file = error.line = error.column = error.value = None
    return error
