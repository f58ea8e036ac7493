"""A launch that was kept, so that it can be repeated with a changed kernel."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.abi.launch_shape import LaunchShape
from amdjit.api import Kernel
from amdjit.checking.profiling import Calling
from amdjit.checking.sanitizing import sanitize
from amdjit.devices import use
from amdjit.diagnostics import AmdjitError, KernelFault
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.options import OptionError
from amdjit.profiling.launch_profile import LaunchProfile
from amdjit.profiling.profile import profile
from amdjit.runtime.device import Device
from amdjit.tuning.sending import SentArray, on_device, sent
from amdjit.tuning.tasks import array_contents

__all__ = ["Outcome", "RecordedCall", "TrialError", "recorded"]


class TrialError(Exception):
    """A changed kernel cannot be compiled or launched, or does something wrong."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a launch did, and what its arrays held afterwards, by name."""

    launch: LaunchProfile
    results: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class RecordedCall:
    """A launch with copies of its arguments as they were before."""

    kernel: Kernel
    arguments: Mapping[str, Any]
    """The arguments by name, arrays of devices in a form that can be copied."""
    shape: LaunchShape
    device: Device

    def with_kernel(self, kernel: Kernel) -> RecordedCall:
        """Return the same launch of another kernel."""
        return replace(self, kernel=kernel)

    def run(self) -> Outcome:
        """Repeat the launch with new arguments, and count; TrialError if that is not possible."""
        with profile() as counted:
            results = self._launched()
        if not counted.launches:
            raise TrialError(counted.stopped[0] if counted.stopped else "nothing was launched")
        return Outcome(counted.launches[-1], results)

    def check(self, *checks: str) -> tuple[SanitizerReport, ...]:
        """Repeat the launch under checks, and return what they report."""
        with sanitize(*checks, raises=False) as found:
            self._launched()
        return tuple(found.reports)

    def _launched(self) -> Mapping[str, NDArray[Any]]:
        with use(self.device):
            try:
                given = on_device(self.arguments, self.device)
                prepared = self.kernel.prepare(*given.values())
                target, shape = self.device.target, self.shape
                prepared.launch(prepared.loaded.check(*shape[:3], target, shape.cooperative))
                self.device.synchronize()
                return array_contents(prepared)
            except (AmdjitError, KernelFault, OptionError, ValueError, TypeError) as error:
                raise TrialError(_first_line(error)) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def recorded(call: Calling) -> RecordedCall:
    """Copy a launch that is about to start."""
    kernel = Kernel(call.function, dict(call.options))
    return RecordedCall(kernel, copy.deepcopy(sent(call.arguments)), call.shape, call.device)


def arrays_of(value: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays among recorded arguments."""
    if isinstance(value, SentArray):
        yield value.contents
    elif isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_of(item)
