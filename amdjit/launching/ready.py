"""Quick calls with a grid, on a stream: all but the arguments is done."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.launching.quick_calls import QuickCall
from amdjit.runtime.device import Device, LaunchSlot
from amdjit.runtime.place import StreamOfDevice

__all__ = ["Ready"]


class Ready:
    """The launches of one specialisation with one grid, on a device's default stream or a stream.

    place: a reference to the stream, or to the device for its default stream.
    """

    __slots__ = ("_idle", "_pack", "_shape", "place", "quick")

    def __init__(
        self, quick: QuickCall, place: Device | StreamOfDevice, shape: LaunchShape
    ) -> None:
        self.quick = quick
        # A kernel outlives devices and streams, and should not keep them.
        self.place: weakref.ref[Any] = weakref.ref(place)
        self._pack, self._shape = quick.pack, shape
        # Slots that no launch uses now. Lists are atomic, so that threads need no lock.
        self._idle: list[LaunchSlot] = []

    def launch(self, device: Device, arguments: Sequence[Any]) -> bool:
        """Launch if the call is one of these; return whether it was.

        HipError and KernelFault as the device raises them.
        """
        try:
            slot = self._idle.pop()
        except IndexError:
            slot = self._slot(device)
        try:
            fits = self._pack(slot, device, *arguments)
        except Exception:  # whatever it is, the slow way finds it again, and says it well
            fits = False
        if fits:
            code = slot.start()
            if code:
                slot.fail(code)
        self._idle.append(slot)
        return fits

    def _slot(self, device: Device) -> LaunchSlot:
        loaded, place = self.quick.loaded, self.place()
        handle = place.handle if isinstance(place, StreamOfDevice) else None
        return device.slot(loaded.function, self._shape, loaded.packer.nbytes, handle)
