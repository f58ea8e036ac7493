"""A long launch of the quick tier: full code is made while it runs, and its waves change over to
it."""

from __future__ import annotations

import threading
import time

from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import Plan, Workspace
from amdjit.emulator.tiers.compilation import HostKernel


class Takeover:
    """Watches one launch. All methods are called by the thread that waits for its end."""

    def __init__(self, function: EmulatedFunction, plan: Plan, workspace: Workspace) -> None:
        self._function = function
        self._plan = plan
        self._workspace = workspace
        self._start = time.perf_counter()
        self._thread: threading.Thread | None = None
        self._made: list[HostKernel] = []
        self._done = False

    def look(self) -> None:
        """Begin to make the full code when the launch has taken long enough, and hand it over
        when it is ready."""
        if self._done:
            return
        if self._made:
            self._workspace.change(self._made[0])
            self._done = True
        elif self._thread is None and self._is_long():
            # Not a daemon: LLVM must not be at work when the process ends.
            self._thread = threading.Thread(
                target=self._make, name="amdjit-emulator-compiler", daemon=False
            )
            self._thread.start()

    def _is_long(self) -> bool:
        running = self._plan.compiled.running
        return running is not None and time.perf_counter() - self._start > running.left

    def _make(self) -> None:
        geometry, function = self._plan.geometry, self._function
        full_waves = geometry.items % self._plan.wave_size == 0
        self._made.append(function.module.kernels.enterable(function.kernel, full_waves))
