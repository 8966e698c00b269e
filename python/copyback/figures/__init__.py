"""The figures of papers, drawn from their reproduction: ``copyback.reproduce(PAPER, figures=DIR)``.

A figure has the form that it has in its paper (bars, lines over a parameter, distributions). Measured values are
filled, the paper's values beside them hollow. Published values come from claims; none is read off a plot. A published
change is applied to the published value of the base scheme, or to its measured value if none is published. A line below
the panels states how the runs were shortened, and how many claims hold. The same results give the same bytes. Needs
matplotlib: ``pip install '.[plot]'`` in the repository.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._dask import connect
from copyback._words import wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback._copyback import Table
    from copyback._dask import Cluster
    from copyback.figures._specs import Figure

PAPERS = ("ispass11", "tc12", "hpdc18", "atc18", "tpds20")
"""Papers whose figures can be drawn."""
FORMATS = ("svg", "pdf")
_MADE_BY = "copyback reproduce"


class Package:
    """The program's tasks that need Python libraries: see ``crates/copyback-cli/src/package.rs``."""

    def cluster(self, address: str) -> Cluster:
        """Connect to the workers that run the cells of ``sweep --dask ADDRESS``.

        Raises
        ------
        InputError
            If Dask is missing, or no scheduler answers.

        """
        return connect(address)

    def check_figures(self, paper: str, folder: str | os.PathLike[str]) -> None:
        """Make the folder of a paper's figures; refuse a folder that they cannot be drawn into.

        Raises
        ------
        InputError
            If matplotlib is missing, the paper is unknown, the folder cannot be written or holds results of runs, or a
            file that no reproduction drew would be replaced.

        """
        if importlib.util.find_spec("matplotlib") is None:
            raise wrong("--figures: matplotlib is not installed", "pip install '.[plot]' in the repository")
        if paper not in PAPERS:
            raise wrong(f"--figures: the figures of `{paper}` are unknown", f"known are those of {', '.join(PAPERS)}")
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise wrong(f"--figures: {place} is a file, not a folder", "name a folder, or a new one")
        if (place / ".copyback.json").exists() or (place / "results.json").exists():
            raise wrong(f"--figures: {place} holds results of runs", "name another folder, or a new one below it")
        for figure in _figures(paper):
            for file in _files(paper, figure, place):
                _check_file(file)
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                pass
        except OSError as error:
            raise wrong(f"--figures: cannot write to {place}: {error.strerror}", "name another folder") from error

    def draw_figures(
        self,
        folder: str | os.PathLike[str],
        document: str,
        tables: Sequence[tuple[str, Table, Table]],
    ) -> str:
        """Draw the figures whose experiments were run; return a line on each figure of the paper."""
        # Only this function needs matplotlib.
        draw: Any = importlib.import_module("copyback.figures._draw")
        about = json.loads(document)
        own = {experiment: (table, latencies) for experiment, table, latencies in tables}
        lines = []
        for figure in _figures(about["paper"]):
            if draw.drawable_panels(figure, own):
                canvas = draw.drawn(figure, own, about)
                files = _files(about["paper"], figure, Path(folder))
                for file in files:
                    _save(canvas, file)
                lines.append(f"{figure.name:5} {files[0].name}, .pdf: {figure.shows}")
            elif figure.not_measured:
                lines.append(f"{figure.name:5} not measured: {figure.shows}; {figure.not_measured}")
        return f"Figures are in {os.fspath(folder)}:\n" + "".join(f"  {line}\n" for line in lines)


def _figures(paper: str) -> tuple[Figure, ...]:
    figures: tuple[Figure, ...] = importlib.import_module(f"copyback.figures._{paper}").FIGURES
    return figures


def _files(paper: str, figure: Figure, folder: Path) -> list[Path]:
    return [folder / f"{paper}-{figure.name}.{form}" for form in FORMATS] if figure.panels else []


def _check_file(file: Path) -> None:
    """Refuse to replace a file that no reproduction drew."""
    if not os.path.lexists(file):
        return
    is_own = False
    if file.is_file() and not file.is_symlink():
        with contextlib.suppress(OSError):
            is_own = _MADE_BY.encode() in file.read_bytes()
    if not is_own:
        raise wrong(f"--figures: {file} is there, and no reproduction drew it", "move it away, or name another folder")


def _save(canvas: Any, file: Path) -> None:
    """Write a figure, completely or not at all, with the same bytes each time."""
    mpl: Any = importlib.import_module("matplotlib")
    style: Any = importlib.import_module("copyback.plot._style")
    metadata: dict[str, Any] = {"Creator": _MADE_BY}
    metadata |= {"Date": None} if file.suffix == ".svg" else {"CreationDate": None, "Producer": None}
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".copyback-", suffix=file.suffix)
    os.close(handle)
    try:
        with mpl.rc_context(style.STYLE):
            canvas.savefig(name, metadata=metadata)
        # The permissions of an ordinary new file.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
