"""A long launch of the quick tier: full code is made while it runs, and its waves change over to
it."""

from __future__ import annotations

import time

from amdjit.emulator.launch.loader import EmulatedFunction
from amdjit.emulator.launch.workspace import Plan, Workspace


class Takeover:
    """Watches one launch. All methods are called by the thread that waits for its end."""

    def __init__(self, function: EmulatedFunction, plan: Plan, workspace: Workspace) -> None:
        self._function = function
        self._plan = plan
        self._workspace = workspace
        self._start = time.perf_counter()
        self._done = False

    def look(self) -> None:
        """Begin to make the full code when the launch has taken long enough, and hand it over
        when it is ready."""
        if self._done or not self._is_long():
            return
        geometry, function = self._plan.geometry, self._function
        full_waves = geometry.items % self._plan.wave_size == 0
        made = function.module.kernels.enterable(function.kernel, full_waves)
        if made is not None:
            self._workspace.change(made)
            self._done = True

    def _is_long(self) -> bool:
        running = self._plan.compiled.running
        return running is not None and time.perf_counter() - self._start > running.left
