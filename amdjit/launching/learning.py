"""Make the function that recognises calls like one that was launched, and packs their arguments."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from amdjit.frontend import OutsideArray
from amdjit.launching.prepared import LaunchableKernel, PreparedLaunch
from amdjit.launching.quick_calls import QuickCall
from amdjit.launching.quick_source import NotQuickError, currency_source, pack_source
from amdjit.launching.residence import waits_for_grid
from amdjit.runtime.arrays import DeviceArray

__all__ = ["currency", "learn", "takes_slow_way"]


def learn(kernel: LaunchableKernel, prepared: PreparedLaunch, arguments: Sequence[Any]) -> None:
    """Let calls like this one, which has been launched, be quick from now on, if they can."""
    values = prepared.leaves.values
    is_as_given = len(arguments) == len(values) and all(map(operator.is_, arguments, values))
    if not is_as_given or takes_slow_way(prepared):
        return  # other libraries' arrays, records, default values
    try:
        pack = _pack(prepared)
    except NotQuickError:
        return
    kernel.quick_calls.add(QuickCall(weakref.ref(prepared.device), prepared.loaded, pack))


def takes_slow_way(prepared: PreparedLaunch) -> bool:
    """Whether launches of a specialisation do more than starting the kernel."""
    compiled = prepared.loaded.compiled
    is_checked = compiled.options.sanitize or prepared.environment.sanitize
    return bool(
        is_checked
        or compiled.reports is not None
        or prepared.staging.has_host_arrays
        or prepared.order is not None
        or prepared.environment.roctx
        or waits_for_grid(compiled)
    )


def _pack(prepared: PreparedLaunch) -> Callable[..., bool]:
    leaves, loaded = prepared.leaves, prepared.loaded
    compiled = loaded.compiled
    if tuple(prepared.kinds) != compiled.arguments:
        raise NotQuickError  # Python's integers became wider
    text, names = pack_source(
        leaves.names,
        leaves.annotations,
        prepared.staging.arguments,
        prepared.kinds,
        compiled.name,
        compiled.launch_uses,
        loaded.packer,
        compiled.reads,
        prepared.outside.arrays,
    )
    return _function(text, names, "pack")


def currency(prepared: PreparedLaunch) -> Callable[[], bool]:
    """Return a function that says whether all that a specialisation read outside the kernel still
    has the values that were compiled in; LaunchError if an array of the launch was freed."""
    reads = prepared.loaded.compiled.reads
    arrays = [value for value in prepared.staging.arguments if isinstance(value, DeviceArray)]
    uses = [use for use in prepared.loaded.compiled.launch_uses if isinstance(use, OutsideArray)]
    outside = list(zip(uses, prepared.outside.arrays, strict=True))
    try:
        text, names = currency_source(reads, arrays, outside)
    except NotQuickError:
        return lambda: (
            all(array.address for array in arrays)
            and all(read.is_current() for read in reads)
            and all(use.current() is array and array.address for use, array in outside)
        )
    return _function(text, names, "is_current")


def _function(text: str, names: dict[str, Any], name: str) -> Callable[..., bool]:
    exec(compile(text, "<amdjit quick call>", "exec"), names)
    function: Callable[..., bool] = names[name]
    return function
