"""The time that the stand-in's events tell.

STANDIN_HIP_CYCLES chooses it: without it, the clock of the host; a JSON object of parameters of the
cycle model, such as `{"passes: transcendental": 8}` or `{}`, lets every launch take as long as it
says with these values in the place of its own, and copies as long as a bus of 16 GB/s.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amdjit.code_object import CodeObject
from amdjit.late import late

# Most processes have the host's clock.
if TYPE_CHECKING:
    from amdjit.cycles import families, model
    from amdjit.profiling import profile as profiling
else:
    families = late("amdjit.cycles.families")
    model = late("amdjit.cycles.model")
    profiling = late("amdjit.profiling.profile")

VARIABLE = "STANDIN_HIP_CYCLES"
# What a launch and a copy take besides, and what a nanosecond copies.
LAUNCH_NANOSECONDS, COPY_NANOSECONDS, BYTES_A_NANOSECOND = 4_000.0, 10_000.0, 16.0


@dataclass
class ModelledTime:
    """A clock that launches and copies advance. values: of the model's parameters."""

    values: Mapping[str, float]
    passed: float = 1e9

    @property
    def nanoseconds(self) -> int:
        """The time."""
        return round(self.passed)

    def copy(self, nbytes: int) -> None:
        """A copy has happened."""
        self.passed += COPY_NANOSECONDS + nbytes / BYTES_A_NANOSECOND

    @contextlib.contextmanager
    def launch(self) -> Iterator[None]:
        """Let time pass as a launch inside of the block takes it."""
        with profiling.profile() as counted:
            yield
        (launch,) = counted.launches
        assert launch.recording is not None
        x, y, z = launch.block
        size = model.Launch(launch.workgroups, x * y * z, launch.dynamic_lds, launch.distinct_lines)
        whole = CodeObject.read(launch.code_object)
        cycles = model.estimate(whole, launch.kernel, size, launch.recording, self.values)
        self.passed += LAUNCH_NANOSECONDS + cycles.seconds * 1e9


def chosen_time() -> ModelledTime | None:
    """Return the clock that the environment asks for, None for the host's."""
    text = os.environ.get(VARIABLE)
    return None if text is None else ModelledTime({**families.VALUES, **json.loads(text)})
