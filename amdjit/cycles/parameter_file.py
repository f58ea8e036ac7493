"""Parameters of the cycle model from a file, such as `amdjit probe --fit` writes, in the place of
those of the table."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amdjit.cycles.chip import CHIP_VALUES
from amdjit.cycles.engine.layout import PLACES
from amdjit.cycles.families import VALUES, family_of
from amdjit.cycles.memory_parameters import MEMORY_PARAMETERS
from amdjit.cycles.parameters import PARAMETERS
from amdjit.options import OptionError, read_environment
from amdjit.target import Target, find_target, read_target

__all__ = [
    "SCHEMA",
    "ParameterFile",
    "file_assumption",
    "least_and_most",
    "read_parameters",
    "values_of",
]

SCHEMA = "amdjit.cycle-parameters/1"


@dataclass(frozen=True, slots=True)
class ParameterFile:
    """What a file of parameters says. target: the processor that they are of. values: by the names
    of `VALUES` and `CHIP_VALUES`; parameters that it does not name keep the table's."""

    target: str
    values: Mapping[str, float]

    @property
    def all_values(self) -> Mapping[str, float]:
        """The values of all parameters, by name."""
        return {**family_of(read_target(self.target)).values, **self.values}

    def json_text(self) -> str:
        """Return the file's text."""
        form = {"schema": SCHEMA, "target": self.target, "parameters": dict(self.values)}
        return json.dumps(form, indent=2) + "\n"


def read_parameters(path: Path) -> ParameterFile:
    """Read a file of parameters. OptionError if it cannot be read, is of another schema, or has an
    unknown processor, name or value."""
    try:
        form: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"{path}: these parameters cannot be read: {error}") from None
    if not isinstance(form, dict) or form.get("schema") != SCHEMA:
        raise OptionError(f'{path}: this is no file of parameters: its "schema" is not "{SCHEMA}"')
    target, parameters = form.get("target"), form.get("parameters")
    if not isinstance(target, str) or find_target(target) is None:
        raise OptionError(f'{path}: "target" is {target!r}: give a processor, such as "gfx1201"')
    if not isinstance(parameters, dict):
        raise OptionError(f'{path}: "parameters" is missing: give an object of names and numbers')
    for name, value in parameters.items():
        _check(path, name, value)
    return ParameterFile(target, {name: float(value) for name, value in parameters.items()})


def _check(path: Path, name: str, value: object) -> None:
    if name not in VALUES and name not in CHIP_VALUES:
        raise OptionError(
            f"{path}: the cycle model has no parameter {name!r}: docs/cycles.md lists its names"
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(f"{path}: parameter {name!r} is {value!r}: give a number")
    least, most = least_and_most(name)
    if not least <= value <= most:
        raise OptionError(
            f"{path}: parameter {name!r} is {value!r}: give a number from {least:g} to {most:g}"
        )


def least_and_most(name: str) -> tuple[float, float]:
    """Return the least and the greatest value that the simulation can work with."""
    if name in CHIP_VALUES:
        return 1 << 10, 1e15
    row = {**PARAMETERS, **MEMORY_PARAMETERS}.get(name)
    if row is None:
        return 1, 1 << 16
    if row.unit in ("instructions", "places", "SIMDs"):
        return 1, PLACES - 1
    if row.unit == "bytes":
        return 1, 1 << 40
    return min(0, row.value), 1 << 20


def values_of(target: Target) -> tuple[Mapping[str, float], Path | None]:
    """Return the parameters' values for a processor, and the file that they are from: those of
    AMDJIT_CYCLE_PARAMETERS if that file is of this processor, else the table's. NoEstimate if the
    model does not know the processor."""
    path = read_environment(os.environ).cycle_parameters
    if path is not None:
        found = read_parameters(path)
        if found.target == target.name:
            return found.all_values, path
    return family_of(target).values, None


def file_assumption(file: Path | None) -> tuple[str, ...]:
    """Return what an estimate says of the file that its parameters are from."""
    return () if file is None else (f"Parameters are those of {file}.",)
