"""Device arrays outside the kernel that it reads, which each launch looks up anew: amdjit's, and
other libraries' in a device's memory.

They are passed like arguments, though there is no parameter for them. The code relies on their
types, but not on their being distinct from other arrays. It does rely on the arguments being
distinct, so an argument that shares memory with such an array is compiled as one that shares
memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amdjit.compiled_kernel import Argument, CompiledKernel
from amdjit.diagnostics import LaunchError
from amdjit.frontend import OutsideArray
from amdjit.late_methods import dataclass
from amdjit.launching.array_facts import sharing
from amdjit.launching.foreign_arguments import Order, shared_outside, together
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.runtime.streams import Stream
from amdjit.types import Array

__all__ = ["NO_ARRAYS", "OutsideArrays", "found_arrays", "sharing_memory"]


@dataclass(frozen=True, slots=True)
class OutsideArrays:
    """The arrays that a launch found outside the kernel."""

    names: tuple[str, ...] = ()
    arrays: tuple[DeviceArray, ...] = ()
    written: tuple[bool, ...] = ()
    """For each array, whether the kernel may write it."""
    has_foreign: bool = False
    """Whether another library made one of the arrays."""
    order: Order | None = None
    """The streams of other libraries to synchronise with."""

    def among(self, compiled: CompiledKernel, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return what a launch passes, with DeviceArrays in the place of other libraries' arrays
        from outside."""
        if not self.has_foreign:
            return tuple(values)
        arrays = iter(self.arrays)
        return tuple(
            next(arrays) if isinstance(use, OutsideArray) else value
            for use, value in zip(compiled.launch_uses, values, strict=True)
        )


NO_ARRAYS = OutsideArrays()


def found_arrays(
    compiled: CompiledKernel,
    device: Device,
    stream: Stream | None = None,
    for_graph: bool = False,
) -> OutsideArrays:
    """Return the arrays that a kernel reads from outside as they are now.

    LaunchError for one on another device, one that was freed, and a read-only one that the kernel
    writes. for_graph: the launch is only recorded, so that nothing is synchronised.
    """
    if not any(isinstance(use, OutsideArray) for use in compiled.launch_uses):
        return NO_ARRAYS
    names, arrays, written = [], [], []
    has_foreign, order = False, None
    for use, may_write in zip(compiled.launch_uses, compiled.written, strict=True):
        if not isinstance(use, OutsideArray):
            continue
        found = use.current()
        try:
            array, its_order = shared_outside(found, device, stream, for_graph)
        except BufferError as error:
            raise LaunchError(f"the array {use.name} of {compiled.name} {error}") from None
        order = together(order, its_order)
        _check(compiled.name, use.name, array, device, may_write)
        names.append(use.name)
        arrays.append(array)
        written.append(may_write)
        has_foreign = has_foreign or array is not found
    return OutsideArrays(tuple(names), tuple(arrays), tuple(written), has_foreign, order)


def _check(kernel: str, name: str, array: DeviceArray, device: Device, written: bool) -> None:
    if array.device is not device:
        raise LaunchError(
            f"{kernel} uses the array {name}, which is on {array.device.name}, and the launch is "
            f"on {device.name}. Pass it as an argument, or launch inside "
            f'`with amdjit.use("{array.device.name}"):`.'
        )
    array.address  # noqa: B018  (LaunchError if it was freed)
    if written and array.is_read_only:
        raise LaunchError(
            f"{kernel} writes the array {name}, which is read-only: its memory is another library's"
        )


def sharing_memory(
    types: Sequence[Argument], staged: Sequence[object], outside: OutsideArrays
) -> tuple[Argument, ...] | None:
    """Return the types of a launch's arguments, where those that share memory with an array from
    outside are no longer distinct; None if no type changes."""
    if not outside.arrays:
        return None
    shared = sharing([*staged, *outside.arrays])
    changed = tuple(
        replace(kind, distinct=False)
        if isinstance(kind, Array) and kind.distinct and id(value) in shared
        else kind
        for kind, value in zip(types, staged, strict=True)
    )
    return changed if changed != tuple(types) else None
