"""The devices of this process: list them, choose one, make arrays, streams and events on it."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from amdjit import emulator
from amdjit.diagnostics.errors import LaunchError
from amdjit.options import Environment, checked_matrix, default_target, read_environment
from amdjit.runtime import arrays, streams
from amdjit.runtime.arrays import DeviceArray
from amdjit.runtime.device import Device
from amdjit.runtime.hip import HipDevice, discover
from amdjit.runtime.strides import Shape
from amdjit.target import EMULATED, Target

if TYPE_CHECKING:
    from amdjit.emulator.device import EmulatorDevice

_LOGGER = logging.getLogger("amdjit")


class Inventory:
    """The devices that exist. HIP is asked and emulators are made when they are first needed."""

    def __init__(self, environment: Environment | None = None) -> None:
        self._lock = threading.RLock()
        self._environment = environment
        self._hip: tuple[list[HipDevice], str] | None = None
        self._emulators: dict[tuple[Target, str], EmulatorDevice] = {}
        self._default: Device | None = None

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
                self._hip = discover()
            return self._hip

    def emulator(self, target: Target, matrix: str | None = None) -> EmulatorDevice:
        """Return the emulator of a processor. matrix: how it rounds products, by default as the
        environment says."""
        with self._lock:
            key = target, matrix or self.environment.emulator_matrix
            if key not in self._emulators:
                settings = dataclasses.replace(self.environment, emulator_matrix=key[1])
                self._emulators[key] = emulator.EmulatorDevice(target, environment=settings)
            return self._emulators[key]

    def all(self) -> list[Device]:
        """Return all devices, GPUs first."""
        return [*self.hip()[0], *(self.emulator(target) for target in EMULATED)]

    def find(self, name: str, matrix: str | None = None) -> Device:
        """Return the device of this name; LaunchError with the known names if there is none."""
        kind, _, which = name.partition(":")
        if kind == "emulator":
            wanted = which or default_target(self.environment).name
            for target in EMULATED:
                if target.name == wanted:
                    return self.emulator(target, matrix)
        if kind == "hip":
            for device in self.hip()[0]:
                if device.index == _index(which or "0"):
                    return device
        raise LaunchError(self._unknown(name, kind))

    def default(self) -> Device:
        """Return the device of AMDJIT_DEVICE, else the first usable GPU, else an emulator.

        An emulator is announced in the log, once.
        """
        with self._lock:
            if self._default is None:
                self._default = self._choose()
            return self._default

    def _choose(self) -> Device:
        if self.environment.device is not None:
            try:
                return self.find(self.environment.device)
            except LaunchError as error:
                raise LaunchError(f"AMDJIT_DEVICE: {error}") from None
        gpus, reason = self.hip()
        if gpus:
            return gpus[0]
        emulator = self.emulator(default_target(self.environment))
        _LOGGER.info(
            "no AMD GPU can be used (%s): kernels run on %s, on the CPU", reason, emulator.name
        )
        return emulator

    def _unknown(self, name: str, kind: str) -> str:
        gpus, reason = self.hip()
        there = ", ".join(
            [gpu.name for gpu in gpus] + [f"emulator:{target}" for target in EMULATED]
        )
        why = f" ({reason})" if kind == "hip" and reason else ""
        return f"there is no device {name!r}{why}. There are: {there}."


def _index(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None


_INVENTORY = Inventory()
_CHOSEN: ContextVar[Device | None] = ContextVar("amdjit device", default=None)


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

    The default is the device that AMDJIT_DEVICE names, else the first GPU that can be used, else an
    emulator.
    """
    return _CHOSEN.get() or _INVENTORY.default()


@contextlib.contextmanager
def use(device: str | Device, matrix: str | None = None) -> Iterator[Device]:
    """Make a device the current one within a `with` block, in this thread or task.

    device: a name such as "hip:0" or "emulator:gfx1201", or one of `devices()`. matrix: "silicon"
    or "fma", for an emulator given by its name: as AMDJIT_EMULATOR_MATRIX, for this device alone,
    which has its own memory. LaunchError for unknown names.
    """
    if matrix is not None:
        checked_matrix(matrix, "matrix")
        if not isinstance(device, str) or device.partition(":")[0] != "emulator":
            raise LaunchError(
                f"use({device!r}, matrix={matrix!r}): only an emulator by its name has matrix="
            )
    chosen = _INVENTORY.find(device, matrix) if isinstance(device, str) else device
    if not hasattr(chosen, "launch"):
        raise LaunchError(
            f'use({device!r}): give a name such as "emulator:gfx1201", or one of amdjit.devices()'
        )
    token = _CHOSEN.set(chosen)
    try:
        yield chosen
    finally:
        _CHOSEN.reset(token)


class Stream(streams.Stream):
    """A queue of work that runs in order, on the current device unless another is given."""

    def __init__(self, device: Device | None = None) -> None:
        super().__init__(device or current_device())


class Event(streams.Event):
    """A mark in a stream, on the current device unless another is given."""

    def __init__(self, device: Device | None = None) -> None:
        super().__init__(device or current_device())


def synchronize() -> None:
    """Wait for all work of the current device; raises what that work failed with."""
    current_device().synchronize()


def to_device(array: ArrayLike, stream: streams.Stream | None = None) -> DeviceArray:
    """Return a C-contiguous copy of a host array on the current device.

    A DeviceArray of that device is returned as it is.
    """
    return arrays.to_device(current_device(), array, stream)


def empty(shape: int | Shape, dtype: DTypeLike = np.float32) -> DeviceArray:
    """Return a new array of arbitrary contents on the current device."""
    return arrays.empty(current_device(), shape, dtype)


def zeros(
    shape: int | Shape, dtype: DTypeLike = np.float32, stream: streams.Stream | None = None
) -> DeviceArray:
    """Return a new array of zeros on the current device."""
    return arrays.zeros(current_device(), shape, dtype, stream)


def full(
    shape: int | Shape,
    value: Any,
    dtype: DTypeLike | None = None,
    stream: streams.Stream | None = None,
) -> DeviceArray:
    """Return a new array with `value` in every element on the current device.

    dtype: the type that NumPy gives the value, unless given.
    """
    return arrays.full(current_device(), shape, value, dtype, stream)


def from_dlpack(tensor: Any, copy: bool | None = None) -> DeviceArray:
    """Return a DeviceArray over another library's tensor on the current GPU.

    A tensor in host memory is copied.
    """
    return arrays.from_dlpack(current_device(), tensor, copy)
