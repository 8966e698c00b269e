"""Progress bars, where there is tqdm."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tracks = list[tuple[str, int | None, int, bool]]


def _is_watched() -> bool:
    """Say whether somebody sees bars: a terminal, or a notebook."""
    return "ipykernel" in sys.modules or sys.stderr.isatty()


@contextlib.contextmanager
def bars(progress: bool | None) -> Iterator[Callable[[Tracks], None] | None]:
    """Show one bar for each part of the work; ``None``: where somebody sees them and tqdm is installed."""
    if progress is False or (progress is None and not _is_watched()):
        yield None
        return
    try:
        tqdm: Any = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        if progress:
            raise
        yield None
        return
    shown: list[Any] = []

    def hear(tracks: Tracks) -> None:
        for at, (name, total, done, is_over) in enumerate(tracks):
            if at == len(shown):
                # What has no length is over soon, or says nothing of how far it is.
                shown.append(None if total is None else tqdm(desc=name, total=total, leave=False, unit_scale=True))
            bar = shown[at]
            if bar is not None:
                bar.update(done - bar.n)
                if is_over:
                    bar.close()

    try:
        yield hear
    finally:
        for bar in shown:
            if bar is not None:
                bar.close()
