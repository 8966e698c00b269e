"""Lists of schemes, devices and workloads, and pages on them."""

from __future__ import annotations

from typing import overload

from copyback import _copyback
from copyback._calls import page


@overload
def schemes(name: None = None) -> dict[str, str]: ...
@overload
def schemes(name: str) -> str: ...
def schemes(name: str | None = None) -> dict[str, str] | str:
    """Return the schemes by name, each with a description; with a name, the page of that scheme."""
    return dict(_copyback.listed("schemes")) if name is None else page("schemes", name)


@overload
def devices(name: None = None) -> dict[str, str]: ...
@overload
def devices(name: str) -> str: ...
def devices(name: str | None = None) -> dict[str, str] | str:
    """Return the devices by name, each with a description; with a name, the configuration of that device as TOML."""
    return dict(_copyback.listed("devices")) if name is None else page("devices", name)


@overload
def workloads(name: None = None) -> dict[str, str]: ...
@overload
def workloads(name: str) -> str: ...
def workloads(name: str | None = None) -> dict[str, str] | str:
    """Return the workloads by name, each with its source; with a name, the definition of that workload as TOML."""
    return dict(_copyback.listed("workloads")) if name is None else page("workloads", name)


def explain(name: str) -> str:
    """Return the page of a scheme, an axis (``"victim"``) or a policy (``"greedy"``, ``"victim.fifo"``)."""
    return page("schemes", name)
