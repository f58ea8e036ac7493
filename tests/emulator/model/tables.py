"""The model's opcodes of the processor family that tests run for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from tests.emulator.model import control_flow, gfx9, gfx11
from tests.emulator.model.comparisons import COMPARISONS
from tests.emulator.model.families import has, instruction_set, is_gfx9, is_gfx11
from tests.emulator.model.floats import FLOAT_OPS
from tests.emulator.model.integers import INTEGERS
from tests.emulator.model.memory import MEMORY, SCALAR_LOADS, Access, Load
from tests.emulator.model.operation import Op
from tests.emulator.model.packed import BYTE_DOTS, HALVES, INTEGER_DOTS, MIXED, PAIRS
from tests.emulator.model.scalars import SCALARS, ScalarOp

_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Tables:
    """Mnemonics and what they do; `vector` has all on registers of lanes but the packed ones."""

    vector: Mapping[str, Op]
    compared: Mapping[str, Op]
    whole: Mapping[str, Op]
    halves: Mapping[str, Op]
    byte_dots: Mapping[str, Op]
    scalars: Mapping[str, ScalarOp]
    memory: Mapping[str, Access]
    scalar_loads: Mapping[str, Load]
    no_effect: Mapping[str, str]
    pairs: Mapping[str, Op]
    dots: Mapping[str, Op]
    wide: Mapping[str, Op]

    @property
    def packed(self) -> tuple[str, ...]:
        """The mnemonics of VOP3P but those of matrix products, and V_PK_FMAC_F16."""
        return (*self.halves, *self.pairs, *self.dots, *self.byte_dots, *MIXED)


_GFX12 = Tables(
    {**INTEGERS, **FLOAT_OPS, **COMPARISONS},
    COMPARISONS,
    INTEGERS,
    HALVES,
    BYTE_DOTS,
    SCALARS,
    MEMORY,
    SCALAR_LOADS,
    control_flow.NO_EFFECT,
    PAIRS,
    INTEGER_DOTS,
    {},
)


def tables() -> Tables:
    """Return the tables of the family."""
    if is_gfx9():
        return _gfx9(instruction_set().name)
    return _gfx11() if is_gfx11() else _GFX12


def _present(table: Mapping[str, _Entry]) -> dict[str, _Entry]:
    return {name: entry for name, entry in table.items() if has(name)}


@cache
def _gfx11() -> Tables:
    return Tables(
        _present(gfx11.VECTOR),
        _present(gfx11.COMPARED),
        _present(gfx11.WHOLE),
        _present(gfx11.PACKED_HALVES),
        _present(BYTE_DOTS),
        _present(gfx11.SCALAR),
        _present(gfx11.ACCESSES),
        _present(SCALAR_LOADS),
        _present({**control_flow.NO_EFFECT, **gfx11.NO_EFFECT}),
        PAIRS,
        INTEGER_DOTS,
        {},
    )


@cache
def _gfx9(family: str) -> Tables:
    """family: its name, which says which 8-bit floats it has, and what else."""
    return Tables(
        _present({**gfx9.VECTOR, **gfx9.bytes_of(family)}),
        _present(gfx9.COMPARED),
        _present(gfx9.WHOLE),
        _present(gfx9.PACKED_HALVES),
        {},
        _present(gfx9.SCALAR),
        _present(gfx9.ACCESSES),
        _present(gfx9.LOADS),
        _present({**control_flow.NO_EFFECT, **gfx9.NO_EFFECT}),
        _present(PAIRS),
        _present(gfx9.DOTS),
        _present(gfx9.WIDE),
    )
