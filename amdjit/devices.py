"""The devices of this process: list them, choose one, make streams and events on it."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amdjit import emulator
from amdjit.diagnostics.errors import LaunchError
from amdjit.diagnostics.performance import DeviceWarning
from amdjit.forking import Lock
from amdjit.late import late
from amdjit.options import (
    MATH_ARITHMETICS,
    MATRIX_ARITHMETICS,
    Environment,
    checked_arithmetic,
    default_target,
    read_environment,
)
from amdjit.runtime import foreign_streams, streams
from amdjit.runtime.device import Device
from amdjit.runtime.place import PLACE, Place
from amdjit.target import (
    EMULATED,
    Target,
    emulated_for,
    find_target,
    nearest_target,
    read_target,
)

if TYPE_CHECKING:
    from amdjit.emulator.device import EmulatorDevice
    from amdjit.runtime import hip
    from amdjit.runtime.hip import HipDevice
else:
    hip = late("amdjit.runtime.hip")

_LOGGER = logging.getLogger("amdjit")


class Inventory:
    """The devices that exist. HIP is asked and emulators are made when they are first needed."""

    def __init__(self, environment: Environment | None = None) -> None:
        self._lock = Lock()
        self._environment = environment
        self._hip: tuple[list[HipDevice], str] | None = None
        self._emulators: dict[tuple[Target, str, str], EmulatorDevice] = {}
        self._default: Device | None = None
        self._for_threads: tuple[Device, ...] = ()

    @property
    def environment(self) -> Environment:
        """The environment variables, read once."""
        with self._lock:
            if self._environment is None:
                self._environment = read_environment(os.environ)
            return self._environment

    def hip(self) -> tuple[list[HipDevice], str]:
        """Return the GPUs that can be used, and why others cannot."""
        with self._lock:
            if self._hip is None:
                self._hip = hip.discover()
            return self._hip

    def emulator(
        self, target: Target, matrix: str | None = None, math: str | None = None
    ) -> EmulatorDevice:
        """Return the emulator of a processor. matrix, math: how it rounds products and approximate
        instructions, by default as the environment says."""
        with self._lock:
            settings = self.environment
            key = target, matrix or settings.emulator_matrix, math or settings.emulator_math
            if key not in self._emulators:
                settings = dataclasses.replace(
                    settings, emulator_matrix=key[1], emulator_math=key[2]
                )
                self._emulators[key] = emulator.EmulatorDevice(target, environment=settings)
            return self._emulators[key]

    def all(self) -> list[Device]:
        """Return all devices, GPUs first."""
        return [*self.hip()[0], *(self.emulator(target) for target in EMULATED)]

    def find(self, name: str, matrix: str | None = None, math: str | None = None) -> Device:
        """Return the device of this name; LaunchError with the known names if there is none."""
        kind, _, which = name.partition(":")
        if kind == "emulator":
            with contextlib.suppress(ValueError):
                target = read_target(which) if which else default_target(self.environment)
                if target.is_emulated:
                    return self.emulator(target, matrix, math)
        if kind == "hip":
            for device in self.hip()[0]:
                if not which or device.index == _index(which):
                    return device
        raise LaunchError(self._unknown(name, kind, which))

    def default(self) -> Device:
        """Return the device of AMDJIT_DEVICE, else the first usable GPU, else an emulator.

        An emulator is announced in the log, once; where ROCm or an AMD GPU is there and does not
        work, by a DeviceWarning.
        """
        shared = self._for_threads
        if shared:
            return shared[-1]
        chosen = self._default
        if chosen is not None:
            return chosen  # without the lock: launches ask each time
        with self._lock:
            if self._default is None:
                self._default = self._choose()
            return self._default

    @contextlib.contextmanager
    def for_threads(self, device: Device) -> Iterator[None]:
        """Make a device the default one while the block lasts."""
        with self._lock:
            self._for_threads += (device,)
        try:
            yield
        finally:
            with self._lock:
                shared = [*self._for_threads]
                # Blocks of several threads may end in any order: the last that is this device.
                del shared[len(shared) - 1 - shared[::-1].index(device)]
                self._for_threads = tuple(shared)

    def _choose(self) -> Device:
        if self.environment.device is not None:
            try:
                return self.find(self.environment.device)
            except LaunchError as error:
                raise LaunchError(f"AMDJIT_DEVICE: {error}") from None
        gpus, reason = self.hip()
        if gpus:
            return gpus[0]
        target = default_target(self.environment)
        emulator = self.emulator(emulated_for(target) or target)
        if self.environment.warnings and hip.is_expected():
            _warn_of_emulator(reason, emulator.name)
        else:
            _LOGGER.info(
                "no AMD GPU can be used (%s): kernels run on %s, on the CPU", reason, emulator.name
            )
        return emulator

    def _unknown(self, name: str, kind: str, which: str) -> str:
        gpus, reason = self.hip()
        there = ", ".join(
            [gpu.name for gpu in gpus] + [f"emulator:{target}" for target in EMULATED]
        )
        why = f" ({reason.rstrip('.')})" if kind == "hip" and reason else ""
        known = find_target(which) if kind == "emulator" else None
        if known is not None:
            why = f" (amdjit compiles for {known}, but does not emulate it)"
            if known.members:
                why = f" ({known} stands for {', '.join(known.members)}, which run its code)"
        nearest = nearest_target(which, EMULATED) if kind == "emulator" else None
        hint = "" if nearest is None else f" The nearest is emulator:{nearest}."
        return f"there is no device {name!r}{why}. There are: {there}.{hint}"


def _warn_of_emulator(reason: str, name: str) -> None:
    """Say at the line of the program that needed a device why that is no GPU."""
    frame, outside = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("amdjit."):
        frame, outside = frame.f_back, outside + 1
    warnings.warn(
        f"kernels run on {name}, on the CPU, although this machine has ROCm or an AMD GPU: "
        f"{reason.rstrip('.')}. To be content with the emulator, set AMDJIT_DEVICE={name}; "
        "AMDJIT_DEVICE=hip makes this an error.",
        DeviceWarning,
        stacklevel=outside,
    )


def _index(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None


_INVENTORY = Inventory()


def devices() -> list[Device]:
    """Return the devices that kernels can run on: GPUs, then an emulator for each processor that
    can be emulated."""
    return _INVENTORY.all()


def hip_status() -> str:
    """Return why some GPUs are not among `devices()`; empty if HIP works and all can be used."""
    return _INVENTORY.hip()[1]


def current_device() -> Device:
    """Return the device that launches and arrays use here: that of the innermost `use`, or the
    default.

    The default is that of the latest `use(..., threads=True)` of any thread, else the device that
    AMDJIT_DEVICE names, else the first GPU that can be used, else an emulator.
    """
    place = PLACE.get()
    return _INVENTORY.default() if place is None else place.device


def find_device(device: str | Device, matrix: str | None = None, math: str | None = None) -> Device:
    """Return a device that is given itself or by its name; LaunchError if there is none."""
    chosen = _INVENTORY.find(device, matrix, math) if isinstance(device, str) else device
    if not hasattr(chosen, "launch"):
        raise LaunchError(
            f'{device!r} is no device: give a name such as "emulator:gfx1201", or one of '
            "amdjit.devices()"
        )
    return chosen


def _check_arithmetic(
    device: str | Device, name: str, given: str | None, known: tuple[str, ...]
) -> None:
    if given is None:
        return
    checked_arithmetic(given, name, known)
    if not isinstance(device, str) or device.partition(":")[0] != "emulator":
        raise LaunchError(
            f"use({device!r}, {name}={given!r}): only an emulator by its name has {name}="
        )


@contextlib.contextmanager
def use(
    device: str | Device,
    matrix: str | None = None,
    math: str | None = None,
    *,
    threads: bool = False,
) -> Iterator[Device]:
    """Make a device the current one within a `with` block, in this thread or task.

    threads: also, while the block lasts, in all threads that are inside of no `use` of their own:
    those of a pool, for instance. device: a name such as "hip:0" or "emulator:gfx1201", or one of
    `devices()`. matrix: "silicon" or "fma"; math: "silicon" or "fast". Both for an emulator given
    by its name: as AMDJIT_EMULATOR_MATRIX and AMDJIT_EMULATOR_MATH, for this device alone, which
    has its own memory. LaunchError for unknown names.
    """
    _check_arithmetic(device, "matrix", matrix, MATRIX_ARITHMETICS)
    _check_arithmetic(device, "math", math, MATH_ARITHMETICS)
    chosen = find_device(device, matrix, math)
    token = PLACE.set(Place(chosen))
    try:
        with _INVENTORY.for_threads(chosen) if threads else contextlib.nullcontext():
            yield chosen
    finally:
        PLACE.reset(token)


class Stream(streams.Stream):
    """A queue of work that runs in order, on the current device unless another is given.

    priority: one of `device.stream_priorities`, which are (1, -1) for most GPUs; lower numbers are
    greater priorities. non_blocking: its work and that of the default stream do not wait for each
    other. `with stream:` makes it the current stream, which work without `stream=` goes to, and its
    device the current device.
    """

    __slots__ = ()

    def __init__(
        self, priority: int = 0, non_blocking: bool = False, device: Device | None = None
    ) -> None:
        super().__init__(device or current_device(), priority, non_blocking)

    @classmethod
    def external(cls, handle: object, device: Device | None = None) -> Stream:
        """Return a stream that another library has made, by its HIP handle; it is not destroyed.

        handle: a hipStream_t as an int or a ctypes.c_void_p, or another library's stream: what has
        `__cuda_stream__`, `cuda_stream` or `ptr`. 0 and 1 (hipStreamLegacy) are the
        default stream, 2 (hipStreamPerThread) is the calling thread's own. The stream must live
        as long as it is used here, and be of this device. LaunchError for other values.
        """
        number = foreign_streams.handle_number_of(handle)
        if number is None:
            raise LaunchError(
                f"the handle of a stream is {handle!r}: give HIP's hipStream_t, as an int or a "
                "ctypes.c_void_p, or another library's stream"
            )
        chosen = device or current_device()
        stream = cls.__new__(cls)
        stream.device = chosen
        stream.handle = chosen.external_stream(number)
        return stream


class Event(streams.Event):
    """A mark in a stream, on the current device unless another is given.

    timing: whether `elapsed_milliseconds` takes it. Events that only order streams cost less
    without.
    """

    def __init__(self, timing: bool = True, device: Device | None = None) -> None:
        super().__init__(device or current_device(), timing)


def current_stream() -> streams.Stream:
    """Return the stream that work without `stream=` goes to here: that of the innermost `with
    stream:`, or the default stream of the current device."""
    place = PLACE.get()
    if place is not None and isinstance(place.stream, streams.Stream):
        return place.stream
    return Stream.external(0)


def synchronize() -> None:
    """Wait for all work of the current device; raises what that work failed with."""
    current_device().synchronize()
