"""The current device and stream, to which work goes if none is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from amdjit.diagnostics.errors import LaunchError
from amdjit.runtime import foreign_streams
from amdjit.runtime.device import Device

__all__ = [
    "PLACE",
    "Place",
    "PlaceInside",
    "StreamOfDevice",
    "callback_place",
    "handle_of",
    "is_captured",
]


class StreamOfDevice:
    """A device and its handle of one of its streams. handle: None for the default stream."""

    __slots__ = ("__weakref__", "device", "handle")

    def __init__(self, device: Device, handle: Any) -> None:
        self.device = device
        self.handle = handle


class Place(NamedTuple):
    """A device, and one of its streams; None for its default stream."""

    device: Device
    stream: StreamOfDevice | None = None


class PlaceInside(Place):
    """A place that knows the one around it, for callers that cannot store a context variable's
    token."""

    outer: Place | None = None


# None: the default device. One variable holds both device and stream, so that a launch reads only
# one.
PLACE: ContextVar[Place | None] = ContextVar("amdjit place", default=None)


class _NoPlace:
    """The place inside a function that a stream calls: HIP would hang if it used the device."""

    @property
    def device(self) -> Device:
        raise self.refusal()

    @property
    def stream(self) -> StreamOfDevice:
        raise self.refusal()

    def __iter__(self) -> Iterator[Any]:
        raise self.refusal()

    def refusal(self) -> LaunchError:
        return LaunchError(
            "a function that a stream calls may not use a device: it runs inside of the stream's "
            "work. Let it set a threading.Event, or put a value into a queue, for a thread that "
            "uses the device."
        )


_NO_PLACE: Any = _NoPlace()


def callback_place() -> Any:
    """Return the place for functions that streams call: it raises LaunchError at any use."""
    return _NO_PLACE


def handle_of(stream: StreamOfDevice | None, device: Device) -> Any:
    """Return the device's handle of a stream: None for its default stream.

    stream: None for the current stream if it belongs to this device, else the default stream; 0
    for the default stream, as in HIP and Numba; a stream of another library, or its handle.
    LaunchError for anything that is not a stream of the device.
    """
    place: Any = PLACE.get()
    if stream is None:
        current = None if place is None else place.stream
        return current.handle if current is not None and current.device is device else None
    if place is _NO_PLACE:
        raise _NO_PLACE.refusal()
    if isinstance(stream, int) and stream == 0:
        return None
    if not isinstance(stream, StreamOfDevice):
        number = foreign_streams.handle_number_of(stream)
        if number is not None:
            return device.external_stream(number)
        raise LaunchError(
            f"the stream is {stream!r}, a {type(stream).__name__}. "
            "Give an amdjit.Stream(), another library's stream or its handle, or None for the "
            "current stream."
        )
    if stream.device is not device:
        raise LaunchError(
            f"the stream belongs to {stream.device.name}, the work is for {device.name}. "
            f'Make the stream there: with amdjit.use("{device.name}"): stream = amdjit.Stream()'
        )
    return stream.handle


def is_captured(handle: Any) -> bool:
    """Whether a stream with this handle is being captured."""
    return handle is not None and handle.capture is not None


def keep_for_graph(handle: Any, *owners: object) -> None:
    """If a stream is being captured, keep objects alive with the graph that its work uses."""
    if is_captured(handle):
        handle.capture.keep(*owners)
