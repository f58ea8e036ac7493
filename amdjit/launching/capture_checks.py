"""What a launch in a captured stream must be: it becomes a node of a graph."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from amdjit.checking.sanitizing import ACTIVE
from amdjit.compiled_kernel import CompiledKernel
from amdjit.diagnostics import LaunchError
from amdjit.launching.residence import waits_for_grid
from amdjit.options import Environment

__all__ = ["refuse_checks", "refuse_host_arrays", "refuse_reports"]


def refuse_host_arrays(
    names: Sequence[str], values: Sequence[Any], by_value: Collection[int]
) -> None:
    """Raise LaunchError for NumPy arguments: a graph does not copy them each time."""
    for position, (name, value) in enumerate(zip(names, values, strict=True)):
        if isinstance(value, np.ndarray) and position not in by_value:
            raise LaunchError(
                f"argument {name} is a NumPy array, and a graph works on the device's memory: "
                f"copy it before the capture, {name} = amdjit.to_device({name}), and back after "
                f"launches, {name}.copy_to_host()"
            )


def refuse_reports(compiled: CompiledKernel, environment: Environment) -> None:
    """Raise LaunchError for a kernel whose launches tell the host something at their end."""
    if waits_for_grid(compiled):
        raise LaunchError(
            f"{compiled.name} calls sync.grid(): its launches are cooperative, which graphs do not "
            "have. Launch it outside of the capture."
        )
    if compiled.reports is not None:
        raise LaunchError(
            f"{compiled.name} prints, asserts or checks bounds: what it reports is read after each "
            "launch, which a graph does not do. Launch it outside of the capture, or compile it "
            "with asserts=False, and without print and bounds_check."
        )
    refuse_checks(compiled.name, compiled.options.sanitize, environment)


def refuse_checks(name: str, option: Sequence[str], environment: Environment) -> None:
    """Raise LaunchError where launches are checked: the kernel's option, the environment or an open
    block says so."""
    if option or environment.sanitize or ACTIVE.get():
        raise LaunchError(
            f"{name}: launches of graphs are not checked (sanitize, AMDJIT_SANITIZE): "
            "launch it outside of the capture, or without checks"
        )
