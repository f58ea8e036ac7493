"""Arrays of other libraries among a launch's arguments: PyTorch's, CuPy's, JAX's, Numba's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from amdjit.devices import Stream, current_device, find_device, hip_status
from amdjit.diagnostics import LaunchError
from amdjit.late_methods import dataclass
from amdjit.launching.record_arguments import Leaves, is_const
from amdjit.runtime import dlpack, foreign_arrays, foreign_streams
from amdjit.runtime.arrays import DeviceArray, to_device
from amdjit.runtime.device import Device
from amdjit.runtime.place import PLACE, is_captured
from amdjit.runtime.streams import Stream as AnyStream
from amdjit.runtime.streams import handle_of

__all__ = ["Order", "adopted", "borrowed", "own_stream", "shared_outside", "together"]


@dataclass(frozen=True, slots=True)
class Order:
    """Streams of other libraries that a launch is synchronised with."""

    device: Device
    before: tuple[Any, ...]
    """Streams for whose work the launch waits."""
    after: tuple[Any, ...]
    """Streams whose later work waits for the launch."""

    def wait(self, handle: Any) -> None:
        """Make the stream of the launch wait for the work that is queued in the others."""
        for other in self.before:
            self._let(handle, other)

    def release(self, handle: Any) -> None:
        """Make later work of the others wait for the launch."""
        for other in self.after:
            self._let(other, handle)

    def _let(self, later: Any, earlier: Any) -> None:
        event = self.device.create_event(timing=False)
        self.device.record_event(event, earlier)
        self.device.wait_event(later, event)


def adopted(
    kernel: str, leaves: Leaves, device: Device, stream: AnyStream | None, for_graph: bool = False
) -> tuple[Device, Order | None]:
    """Replace other libraries' arrays by DeviceArrays and NumPy arrays; return the device of the
    launch, and the streams to synchronise with.

    Without `stream` and `use`, a launch goes to the GPU that has the arrays. for_graph: the launch
    is only recorded, so that nothing is synchronised. LaunchError for arrays that cannot be taken,
    and for arrays of two GPUs.
    """
    parts = zip(leaves.values, leaves.annotations, strict=True)
    found = []
    for position, (value, annotation) in enumerate(parts):
        if not foreign_arrays.is_foreign(value) or is_const(annotation):
            continue
        marked = foreign_arrays.marked_array(value)
        if marked is None:
            found.append(position)
        else:
            leaves.values[position] = marked
    if not found:
        return device, None
    on_gpu: dict[int, int] = {}
    for position in found:
        with _named(kernel, leaves.names[position]):
            kind, index = foreign_arrays.located(leaves.values[position], device)
            if kind == dlpack.CPU:
                leaves.values[position] = foreign_arrays.host_array(leaves.values[position])
            else:
                on_gpu[position] = index
    if not on_gpu:
        return device, None
    device = _gpu(kernel, leaves, on_gpu, device, stream)
    return device, _share(
        kernel, leaves, positions=list(on_gpu), device=device, stream=stream, for_graph=for_graph
    )


def own_stream(stream: Any) -> tuple[AnyStream | None, Device]:
    """Return the stream of a launch as amdjit's own, and the device of the launch.

    stream: None, a Stream, or another library's stream of the current device, or of the GPU that it
    names. LaunchError for anything else.
    """
    if isinstance(stream, AnyStream):
        return stream, stream.device
    number = None if stream is None else foreign_streams.handle_number_of(stream)
    if not number:
        return stream, current_device()
    index = foreign_streams.device_index_of(stream)
    device = current_device()
    if index is not None and device.dlpack_device != (dlpack.ROCM, index):
        device = find_device(f"hip:{index}")
    return Stream.external(number, device), device


def _gpu(
    kernel: str, leaves: Leaves, on_gpu: dict[int, int], device: Device, stream: AnyStream | None
) -> Device:
    """Return the GPU of a launch, which has all these arrays."""
    (first, index), *others = on_gpu.items()
    for position, other in others:
        if other != index:
            name = leaves.names[position]
            raise LaunchError(
                f"argument {leaves.names[first]} of {kernel} is on hip:{index}, {name} on "
                f"hip:{other}: copy one of them to the other GPU, such as "
                f'{name}.to("cuda:{index}")'
            )
    if device.dlpack_device == (dlpack.ROCM, index):
        return device
    is_free = stream is None and PLACE.get() is None
    if is_free and device.dlpack_device[0] == dlpack.ROCM:
        return find_device(f"hip:{index}")
    reason = hip_status()
    raise LaunchError(
        f"argument {leaves.names[first]} of {kernel} is on hip:{index}, the launch on "
        f'{device.name}: launch inside `with amdjit.use("hip:{index}"):`'
        + (f". HIP: {reason}" if reason else "")
    )


def _share(
    kernel: str,
    leaves: Leaves,
    positions: list[int],
    device: Device,
    stream: AnyStream | None,
    for_graph: bool,
) -> Order | None:
    """Replace these arrays by DeviceArrays over the same memory."""
    own = foreign_arrays.NO_WAIT if for_graph else device.stream_number(handle_of(stream, device))
    others: set[int] = set()
    for position in positions:
        with _named(kernel, leaves.names[position]):
            array = leaves.values[position]
            leaves.values[position] = foreign_arrays.device_array(array, device, own)
            theirs = foreign_arrays.stream_of(array, device.dlpack_device[1])
        if theirs is not None and theirs != own:
            others.add(theirs)
    return None if for_graph else _order(device, others, stream)


def shared_outside(
    value: Any, device: Device, stream: AnyStream | None, for_graph: bool
) -> tuple[DeviceArray, Order | None]:
    """Return an array in a device's memory that a kernel reads from outside as a DeviceArray, and
    the streams to synchronise with. BufferError for another library's that cannot be taken."""
    marked = value if isinstance(value, DeviceArray) else foreign_arrays.marked_array(value)
    if marked is not None:
        return marked, None
    own = foreign_arrays.NO_WAIT if for_graph else device.stream_number(handle_of(stream, device))
    array = foreign_arrays.device_array(value, device, own)
    theirs = foreign_arrays.stream_of(value, device.dlpack_device[1])
    others = set() if for_graph or theirs in (None, own) else {theirs}
    return array, _order(device, others, stream)


def together(first: Order | None, second: Order | None) -> Order | None:
    """Return what synchronises with the streams of both."""
    if first is None or second is None:
        return first or second
    return Order(first.device, first.before + second.before, first.after + second.after)


def _order(device: Device, others: set[int], stream: AnyStream | None) -> Order | None:
    if not others:
        return None
    streams = tuple(device.external_stream(number) for number in sorted(others))
    # A caller that names a stream is responsible for synchronising it with others.
    return Order(device, streams, streams if stream is None else ())


@contextmanager
def borrowed(array: Any, device: Device, stream: AnyStream | None) -> Iterator[DeviceArray]:
    """Yield another library's array as a DeviceArray, for work that reads it.

    The work waits for what the library has queued and, without `stream`, the library's later work
    waits for it. Host memory is copied. BufferError for an array that cannot be taken.
    """
    place, handle = foreign_arrays.located(array, device), handle_of(stream, device)
    if place == (dlpack.CPU, 0):
        yield to_device(device, foreign_arrays.host_array(array), stream)
        return
    if place != device.dlpack_device:
        raise BufferError(f"is on DLPack device {place}, {device.name} is {device.dlpack_device}")
    for_graph = is_captured(handle)
    own = foreign_arrays.NO_WAIT if for_graph else device.stream_number(handle)
    shared = foreign_arrays.device_array(array, device, own)
    theirs = foreign_arrays.stream_of(array, place[1])
    others = set() if for_graph or theirs in (None, own) else {theirs}
    order = _order(device, others, stream)
    if order is not None:
        order.wait(handle)
    yield shared
    if order is not None:
        order.release(handle)


@contextmanager
def _named(kernel: str, name: str) -> Iterator[None]:
    try:
        yield
    except BufferError as error:
        raise LaunchError(f"argument {name} of {kernel} {error}") from None
