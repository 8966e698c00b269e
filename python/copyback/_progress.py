"""Progress bars, if tqdm is installed."""

from __future__ import annotations

import contextlib
import importlib
import logging
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tracks = list[tuple[str, int | None, int, bool]]


_LOG = logging.getLogger("copyback")


def _is_watched() -> bool:
    """Return whether the user sees bars: in a terminal, or in a notebook."""
    if "ipykernel" in sys.modules:
        return True
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # There is no standard error, as in a program without a console, or it is closed.
        return False


@contextlib.contextmanager
def bars(progress: bool | None) -> Iterator[Callable[[Tracks, list[str]], None] | None]:
    """Show one bar for each part of the work; with ``None``, only in a terminal or a notebook, if tqdm is installed.

    If ``None`` shows no bars, the logger ``copyback`` gets a line for each step that takes long. With ``False``,
    nothing is shown or logged.
    """
    if progress is False:
        yield None
        return
    tqdm: Any = None
    if progress or _is_watched():
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            if progress:
                raise
    shown: list[Any] = []

    def on_progress(tracks: Tracks, lines: list[str]) -> None:
        for line in lines:
            # Bars show the progress already; they do not show suggestions of options.
            if tqdm is None or "--" in line:
                _LOG.warning("%s", line)
        if tqdm is None:
            return
        for at, (name, total, done, is_over) in enumerate(tracks):
            if at == len(shown):
                shown.append(None)
            if shown[at] is None and total is not None and (progress or not is_over):
                # A step that ends at once has no bar, unless the caller asked for bars.
                delay = 0 if progress else 0.3
                shown[at] = tqdm(desc=name, total=total, leave=False, unit_scale=True, delay=delay)
            bar = shown[at]
            if bar is not None:
                bar.update(done - bar.n)
                if is_over:
                    bar.close()

    try:
        yield on_progress
    finally:
        for bar in shown:
            if bar is not None:
                bar.close()
