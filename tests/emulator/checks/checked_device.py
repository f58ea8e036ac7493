"""An emulator whose launches are checked: for code objects that come without a kernel of amdjit."""

from __future__ import annotations

from typing import Any

from amdjit.abi.launch_shape import LaunchShape
from amdjit.checking.settings import Request
from amdjit.diagnostics.sanitizer import SanitizerReport
from amdjit.emulator import EmulatorDevice


class CheckedDevice:
    """A device for `amdjit.emulator.run`; `reports` holds the findings of the checks."""

    def __init__(self, inner: EmulatorDevice, *checks: str) -> None:
        self._inner = inner
        self._checks = frozenset(checks)
        self.reports: list[SanitizerReport] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def launch(
        self,
        function: Any,
        shape: LaunchShape,
        kernarg: bytearray,
    ) -> None:
        request = Request(self._checks, 20, (), promises_alignment=False)
        reports, fault = self._inner.launch_sanitized(function, shape, kernarg, request)
        self.reports += reports
        assert fault is None
