"""The dot products of the VALU, with the same data as matrix instructions. Each lane computes a sum
of its own."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import amdjit
from amdjit.intrinsics import matrix
from amdjit.isa.matrix_rounding import FORMATS, RoundedRule, Rule, rdna_rule
from amdjit.probe.case import Batch, Case, Group, Results
from amdjit.probe.corpus.matrix import data
from amdjit.probe.corpus.matrix.results import Bits, Sums, hexadecimal, typed
from amdjit.probe.machine_code import Program, v
from amdjit.target import Target, find_target

__all__ = ["Dot", "batches", "dots_of"]

_GROUP = 256  # work-items of a workgroup
_SIDE = 16  # a wave computes the sums of an experiment as a product of 16 by 16 would


@dataclass(frozen=True)
class Dot:
    """A dot product. kinds: types of A, B and the result."""

    mnemonic: str
    target: str
    kinds: tuple[str, str, str]
    """The types of A, B and the result."""

    @property
    def name(self) -> str:
        """The name in the assembler."""
        return self.mnemonic

    @property
    def depth(self) -> int:
        """The number of products of a sum."""
        return 32 // FORMATS[self.kinds[0]].bits

    @property
    def base_rule(self) -> Rule:
        """The rule that the emulator follows; on gfx9 it adds one product after the other."""
        isa = _target(self.target).isa
        if isa[0] == 9:
            return RoundedRule()
        return rdna_rule(self.kinds, isa[0] == 11)

    @property
    def has_any_nan(self) -> bool:
        """Whether a NaN result may have the bits of any of several operands, which no rule here
        decides."""
        return isinstance(self.base_rule, RoundedRule)

    @property
    def certainty(self) -> str:
        """How certain it is how its sums are computed."""
        try:
            return matrix.certainty(self.mnemonic.removeprefix("v_"), self.target)
        except ValueError:
            return "documented"

    @property
    def experiments(self) -> tuple[str, ...]:
        """The names of its experiments."""
        return data.EXPERIMENTS


def _target(name: str) -> Target:
    found = find_target(name)
    assert found is not None
    return found


@cache
def dots_of(target: str) -> tuple[Dot, ...]:
    """Return a processor's dot products of floats."""
    known = Program(_target(target), _target(target).wave_size)
    bytes_ = [(a, b) for a in ("fp8", "bf8") for b in ("fp8", "bf8")]
    found = [
        Dot("v_dot2_f32_f16", target, ("f16", "f16", "f32")),
        Dot("v_dot2_f32_bf16", target, ("bf16", "bf16", "f32")),
        Dot("v_dot2_f16_f16", target, ("f16", "f16", "f16")),
        Dot("v_dot2_bf16_bf16", target, ("bf16", "bf16", "bf16")),
        *(Dot(f"v_dot4_f32_{a}_{b}", target, (a, b, "f32")) for a, b in bytes_),
    ]
    return tuple(each for each in found if known.has(each.mnemonic))


def batches(target: Target) -> tuple[Batch, ...]:
    """Return a batch of all dot products; none if the processor has none."""
    if not dots_of(target.name):
        return ()
    return (Batch("matrix/dot products", Group.MATRIX, seconds=120.0, cases=_cases, expected=4.0),)


def _cases(target: Target) -> Iterator[Case]:
    for dot in dots_of(target.name):
        for experiment in dot.experiments:
            yield Case(
                f"{dot.mnemonic}: {experiment}",
                dot.mnemonic,
                partial(_run, dot, experiment),
                partial(_inputs, dot, experiment),
                dot.certainty,
                keeps=True,
            )


def sums_of_dot(dot: Dot, experiment: str) -> Sums:
    """Return an experiment's sums."""
    make, waves = data.maker_of(experiment)
    seed = zlib.crc32(f"{dot.mnemonic} {experiment}".encode())
    shapes = data.Shapes(dot.kinds, waves, blocks=1, m=_SIDE, n=_SIDE, k=dot.depth)
    drawn = make(np.random.default_rng(seed), shapes)
    shape = (*drawn.c.shape, dot.depth)
    a = np.broadcast_to(drawn.a[:, :, :, None, :], shape)
    b = np.broadcast_to(drawn.b.transpose(0, 1, 3, 2)[:, :, None], shape)
    flat = [np.ascontiguousarray(each).reshape(-1, dot.depth) for each in (a, b)]
    return Sums(flat[0], flat[1], drawn.c.reshape(-1), dot.kinds)


def _run(dot: Dot, experiment: str) -> Results:
    sums = sums_of_dot(dot, experiment)
    rows = [_word(sums.a, dot.kinds[0]), _word(sums.b, dot.kinds[1]), sums.c.astype(np.uint32)]
    count = len(sums.c)
    results = amdjit.zeros(count, np.uint32)
    kernel = amdjit.load(_code(dot, count)).kernels["kernel"]
    kernel[count // _GROUP, _GROUP](amdjit.to_device(np.concatenate(rows)), results)
    bits = results.copy_to_host().astype(np.uint64)
    return (typed(bits & np.uint64((1 << FORMATS[dot.kinds[2]].bits) - 1), dot.kinds[2]),)


def _word(factors: Bits, kind: str) -> NDArray[np.uint32]:
    """Return the factors of each sum in one dword, the first one in the lowest bits."""
    shifts = np.arange(factors.shape[1], dtype=np.uint64) * np.uint64(FORMATS[kind].bits)
    return np.bitwise_or.reduce(factors << shifts, axis=1).astype(np.uint32)


@cache
def _code(dot: Dot, count: int) -> bytes:
    target = _target(dot.target)
    program = Program(target, target.wave_size)
    program.begin(_GROUP)
    for row in range(3):
        program.load(v(2 + row), 4 * count * row)
    program.safe("v_mov_b32", v(6), 0)
    # Both halves of packed sources are used.
    packed: dict[str, Any] = {"op_sel_hi": 7} if dot.depth == 2 and dot.kinds[2] == "f32" else {}
    program.safe(dot.mnemonic, v(6), v(2), v(3), v(4), **packed)
    program.store(v(6), 0)
    return program.code_object(max_group_size=_GROUP)


def _inputs(dot: Dot, experiment: str, result: int, element: int) -> str:
    sums = sums_of_dot(dot, experiment)
    a, b = hexadecimal(sums.a[element]), hexadecimal(sums.b[element])
    return f"sum {element}: a {a}, b {b}, c {int(sums.c[element]):#x}"
