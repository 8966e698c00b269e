"""Simulate SSDs: what garbage collection costs their users, and which way of scheduling it costs least.

The commands of the program ``copyback`` are functions, with the program's names and settings::

    import copyback

    result = copyback.compare(schemes=["baseline", "pgc"], set={"capacity.over_provisioning": 0.15})
    print(result)
    result["pgc"]["response"]["read"]["p99_9_ns"]

The program itself is ``python -m copyback``.
"""

from copyback._commands import compare, config, report, reproduce, run, sweep, trace, validate
from copyback._copyback import (
    AllocationView,
    DieView,
    Error,
    InputError,
    OrderView,
    PreemptionView,
    RunError,
    SharesView,
    Table,
    TaskView,
    TriggerView,
    VictimView,
    __version__,
)
from copyback._lists import devices, explain, schemes, workloads
from copyback._plugins import Scheme
from copyback._results import Document, Runs, Sweep
from copyback.policies import (
    AllocationPolicy,
    BackgroundTask,
    BlockState,
    OrderPolicy,
    PreemptionPolicy,
    SharesPolicy,
    TriggerPolicy,
    VictimPolicy,
)

__all__ = [
    "AllocationPolicy",
    "AllocationView",
    "BackgroundTask",
    "BlockState",
    "DieView",
    "Document",
    "Error",
    "InputError",
    "OrderPolicy",
    "OrderView",
    "PreemptionPolicy",
    "PreemptionView",
    "RunError",
    "Runs",
    "Scheme",
    "SharesPolicy",
    "SharesView",
    "Sweep",
    "Table",
    "TaskView",
    "TriggerPolicy",
    "TriggerView",
    "VictimPolicy",
    "VictimView",
    "__version__",
    "compare",
    "config",
    "devices",
    "explain",
    "report",
    "reproduce",
    "run",
    "schemes",
    "sweep",
    "trace",
    "validate",
    "workloads",
]
