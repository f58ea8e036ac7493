"""A launch with everything fixed, to be repeated: `launch = kernel[grid, block].bind(...)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.profiling import PROFILES
from amdjit.checking.sanitizing import ACTIVE
from amdjit.diagnostics import KernelFault, LaunchError
from amdjit.late import late
from amdjit.launching.learning import currency, takes_slow_way
from amdjit.launching.prepared import PreparedLaunch
from amdjit.runtime.device import Device, LaunchSlot
from amdjit.runtime.place import PLACE, Place, is_captured
from amdjit.runtime.streams import Stream, handle_of

if TYPE_CHECKING:
    from amdjit.runtime import sanitized
else:
    sanitized = late("amdjit.runtime.sanitized")

__all__ = ["BoundLaunch"]

# Prepares the call and checks its grid; launches it on a stream.
Prepare = Callable[[], tuple[PreparedLaunch, LaunchShape]]
LaunchOn = Callable[[Stream | None], None]


class BoundLaunch:
    """A kernel with a grid, a stream and arguments: call it to launch it again.

    It launches on the device and the stream that it was made for. The arrays are kept alive, and
    each launch sees what they hold then; all else about the arguments is as it was. Where something
    that the kernel reads from outside has changed, the kernel is compiled anew first.
    """

    __slots__ = ("_bound", "_launch_on", "_prepare")

    def __init__(self, prepare: Prepare, launch_on: LaunchOn) -> None:
        self._prepare, self._launch_on = prepare, launch_on
        self._bind()

    def __call__(self, stream: Stream | None = None) -> None:
        """Launch. stream: another one of the same device for this launch.

        The call may return before the kernel has ended.
        """
        is_current, slot, prepared = self._bound
        place = PLACE.get()
        if place is not None:
            place.device  # noqa: B018  (refused in functions that streams call)
        if not is_current():
            self._bind()
            is_current, slot, prepared = self._bound
        own = prepared.stream
        is_plain = stream is None and (own is None or not is_captured(own.handle))
        if slot is None or not is_plain or ACTIVE.get() or PROFILES.get():
            self._launch_elsewhere(stream)
            return
        try:
            code = slot.start()
        except KernelFault as fault:
            sanitized.locate(fault, prepared.arrays())
            raise
        if code:
            slot.fail(code)

    @property
    def device(self) -> Device:
        """The device on which it launches."""
        return self._bound[2].device

    def __repr__(self) -> str:
        loaded = self._bound[2].loaded
        return f"<launch of {loaded.compiled.signature} on {self.device.name}>"

    def _bind(self) -> None:
        prepared, shape = self._prepare()
        _refuse_host_arrays(prepared)
        loaded, device, stream = prepared.loaded, prepared.device, prepared.stream
        slot: LaunchSlot | None = None
        if not (shape.cooperative or takes_slow_way(prepared)):
            handle = None if stream is None else handle_of(stream, device)
            slot = device.slot(loaded.function, shape, loaded.packer.nbytes, handle)
            slot.kernarg[slot.offset :] = loaded.packer.pack(prepared.values)
        self._bound = currency(prepared), slot, prepared

    def _launch_elsewhere(self, stream: Stream | None) -> None:
        """Launch on another stream, or with checks, counts or reports."""
        device = self.device
        if stream is None:
            stream = self._bound[2].stream
        handle_of(stream, device)  # refuses a stream of another device
        token = PLACE.set(Place(device))
        try:
            self._launch_on(stream)
        finally:
            PLACE.reset(token)


def _refuse_host_arrays(prepared: PreparedLaunch) -> None:
    """LaunchError for NumPy arrays: each launch would have to copy them, and wait."""
    for place in prepared.staging.host_places:
        name = place.name
        raise LaunchError(
            f"bind fixes the addresses of arrays, and {name} is a NumPy array, which each launch "
            f"copies. Copy it once: {name} = amdjit.to_device({name})"
        )
