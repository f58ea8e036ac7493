"""A launch that was kept, so that it can be repeated with a changed kernel."""

from __future__ import annotations

import copy
import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

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
from amdjit.tuning.sending import on_device, sent
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
    only_once: str = ""
    """Why it cannot be repeated with copies of its arguments, "" if it can."""

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
        # What the kernel prints, the user's own launch has printed.
        with use(self.device), redirect_stdout(io.StringIO()):
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
    arguments = {} if call.only_once else copy.deepcopy(sent(call.arguments))
    return RecordedCall(kernel, arguments, call.shape, call.device, call.only_once)
