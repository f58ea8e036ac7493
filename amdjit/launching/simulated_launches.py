"""Launches as plain Python: `amdjit.simulate()` and AMDJIT_SIMULATE=1.

Nothing is compiled. NumPy's arrays are written in place; those of the device are copied to the host
before the launch, a piece of memory once however many arrays lie in it, and back after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from amdjit.abi.launch_shape import LaunchShape, check_launch
from amdjit.checking.profiling import DEBUGGERS, PROFILES, RECORDERS
from amdjit.checking.simulating import SIMULATIONS
from amdjit.compiled_kernel import Argument
from amdjit.diagnostics import LaunchError, TypeCheckError
from amdjit.late import late
from amdjit.launching.argument_types import argument_types
from amdjit.launching.array_facts import type_outside
from amdjit.launching.foreign_arguments import Order, adopted, own_stream, shared_outside
from amdjit.launching.kernel_options import KernelOptions
from amdjit.launching.prepared import LaunchableKernel
from amdjit.launching.record_arguments import Shape, assembled, leaves_of
from amdjit.options import CompileOptions
from amdjit.runtime.device import Device
from amdjit.runtime.place import is_captured
from amdjit.runtime.staging import Staging
from amdjit.runtime.streams import Stream, handle_of
from amdjit.target import Target
from amdjit.types import from_dtype

if TYPE_CHECKING:
    from amdjit import compiler
    from amdjit.frontend import TypedKernel
    from amdjit.simulating import running
else:
    compiler = late("amdjit.compiler")
    running = late("amdjit.simulating.running")

__all__ = ["is_simulated", "launch", "refuse"]

Extents = Callable[[CompileOptions], tuple[Any, Any]]


def is_simulated(kernel: LaunchableKernel) -> bool:
    """Whether launches of a kernel run as plain Python: not those of amdjit's own."""
    if not (SIMULATIONS.get() or kernel.specialisations.options.environment.simulate):
        return False
    module = kernel.specialisations.function.__module__ or ""
    is_own = module.startswith("amdjit.") and not module.startswith("amdjit.examples.")
    return not is_own


def refuse(what: str) -> LaunchError:
    """Return the error of what a simulated launch cannot do."""
    return LaunchError(
        f"{what} of a kernel that is simulated: simulated launches are kernel[grid, block](...) "
        "with numbers and arrays of numbers; leave out amdjit.simulate() and AMDJIT_SIMULATE"
    )


def launch(
    kernel: LaunchableKernel,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    stream: Stream | None,
    extents: Extents,
    dynamic_lds: int,
) -> None:
    """Check a launch, and run it as plain Python.

    extents: returns grid and block for the options of the kernel. The errors are those of other
    launches.
    """
    given = kernel.specialisations.options
    _check_blocks(given)
    bound = kernel.signature.bind(arguments, keywords)
    stream, device = own_stream(stream)
    handle = handle_of(stream, device)
    if is_captured(handle):
        raise refuse("a graph")
    options = given.complete(device.target)
    annotations = kernel.signature.annotations(options)
    if kernel.explicit is not None:
        annotations, bound = kernel.explicit.choose(bound)
    name = kernel.signature.kernel
    try:
        leaves = leaves_of(name, kernel.signature.names, annotations, bound)
        device, order = adopted(name, leaves, device, stream)
        staging = Staging(device, leaves.names, leaves.values, leaves.by_value, stream)
        kinds = argument_types(name, leaves, staging.arguments, given.number_widths)
    except TypeCheckError as failure:
        raise kernel.signature.at_annotation(failure) from None
    shape = _checked(extents, options, dynamic_lds, device.target)
    _synchronise(device, handle, order)
    memory = _DeviceMemory(device, handle)
    singles = iter([memory.view(each) for each in leaves.values])
    values = [_assembled(each, singles) for each in leaves.shapes]
    typing = _typing(kernel, assembled(leaves.shapes, kinds), options)
    _run(
        kernel,
        options,
        shape,
        arguments=list(zip(values, annotations, strict=True)),
        memory=memory,
        typing=typing,
    )
    if order is not None:
        order.release(handle)


def _checked(
    extents: Extents, options: CompileOptions, dynamic_lds: int, target: Target
) -> LaunchShape:
    grid, block = extents(options)
    return check_launch(
        grid,
        block,
        dynamic_lds,
        target,
        max_flat_workgroup_size=options.max_workgroup_size,
        static_lds=0,
        required_block=options.required_workgroup_size,
    )


def _check_blocks(given: KernelOptions) -> None:
    """Refuse a launch that something else watches: there is no compiled code to watch."""
    blocks = (*PROFILES.get(), *RECORDERS.get(), *DEBUGGERS.get())
    if given.launches_are_checked or blocks or given.environment.record:
        raise refuse("checks, profiles, recordings and amdjit.debug")


def _synchronise(device: Device, handle: Any, order: Order | None) -> None:
    """Wait for earlier work, since the host reads what it has written."""
    if order is not None:
        order.wait(handle)
    if handle is None:
        device.synchronize()
    else:
        device.synchronize_stream(handle)


def _run(
    kernel: LaunchableKernel,
    options: CompileOptions,
    shape: LaunchShape,
    arguments: list[tuple[Any, Any]],
    memory: _DeviceMemory,
    typing: Callable[[], TypedKernel],
) -> None:
    function = kernel.specialisations.function
    try:
        running.run(
            function,
            options,
            shape,
            arguments=arguments,
            outside_array=memory.outside_array,
            type_kernel=typing,
        )
    finally:
        memory.write_back()


def _typing(
    kernel: LaunchableKernel, arguments: tuple[Argument, ...], options: CompileOptions
) -> Callable[[], TypedKernel]:
    """Return what types the kernel as for compiling it, without what only Python runs."""
    kept = kernel.specialisations
    return partial(
        compiler.type_arguments,
        kept.function,
        arguments,
        options,
        kept.options.environment,
        leaves_out_calls=True,
    )


def _assembled(shape: Shape | None, values: Iterator[Any]) -> Any:
    """Put an argument that was taken apart together again."""
    if shape is None:
        value = next(values)
        if not isinstance(value, np.ndarray):
            return value
        if from_dtype(value.dtype) is None and value.dtype.names is None:
            raise refuse(f"an array of {value.dtype}, an argument")
        return value[()] if value.ndim == 0 and value.dtype.names is not None else value
    parts = [_assembled(part, values) for part in shape.parts]
    if shape.structure is None:
        return tuple(parts)
    if shape.structure.python is None:
        raise refuse(f"a {shape.structure.name}, an argument")
    return shape.structure.python(*parts)


class _DeviceMemory:
    """Copies of the pieces of a device's memory that a launch accesses."""

    def __init__(self, device: Device, handle: Any) -> None:
        self._device, self._handle = device, handle
        self._pieces: dict[int, np.ndarray[Any, Any]] = {}

    def view(self, value: Any) -> Any:
        """Return a device's array as one of the copy of its memory; other values as they are."""
        found = self.outside_array(value)
        return value if found is None else found

    def outside_array(self, value: Any) -> np.ndarray[Any, Any] | None:
        """Return a device's array as one of the copy of its memory, None for other objects."""
        if type_outside(value) is None:
            return None
        value, order = shared_outside(value, self._device, None, for_graph=False)
        if order is not None:
            _synchronise(self._device, self._handle, order)
        if value.device is not self._device:
            raise LaunchError(f"an array is on {value.device.name}: the launch is on "
                              f"{self._device.name}")  # fmt: skip
        address, nbytes = value.allocation
        piece = self._pieces.get(address)
        if piece is None:
            piece = self._pieces[address] = np.zeros(nbytes, np.uint8)
            if nbytes:
                self._device.copy_to_host(piece.data, address, self._handle)
        offset = value.address - address
        found: np.ndarray[Any, Any] = np.ndarray(
            value.shape, value.dtype, piece.data, offset, value.strides
        )
        return found

    def write_back(self) -> None:
        """Copy the memory back to the device."""
        for address, piece in self._pieces.items():
            if piece.nbytes:
                self._device.copy_to_device(address, piece.data, self._handle)
