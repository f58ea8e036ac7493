"""Random operands of many distributions for matrix instructions, and the instructions that take
them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tests.emulator.matrix_waves import W32, W64, Wave
from tests.emulator.silicon_matrices import Shape
from tests.emulator.silicon_model import FORMATS, dot_step
from tests.emulator.single_instruction import run_registers

Bits = NDArray[np.uint64]
Registers = NDArray[np.uint32]
Random = np.random.Generator

TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "f32": np.float32,
}


def encoded(values: NDArray[Any], kind: str) -> Bits:
    """Return the bits of numbers, rounded to a format."""
    with np.errstate(all="ignore"):
        typed = values.astype(np.float32).astype(TYPES[kind])
    return typed.view(f"u{typed.itemsize}").astype(np.uint64)


def _fields(random: Random, kind: str, count: int, first: int, last: int) -> Bits:
    """Any signs and fractions, exponent fields from first to last."""
    form = FORMATS[kind]
    field = random.integers(first, last + 1, count).astype(np.uint64)
    rest = random.integers(0, 1 << form.fraction_bits + 1, count).astype(np.uint64)
    places = np.uint64(form.fraction_bits), np.uint64(form.bits - 1)
    return (
        (rest & np.uint64((1 << form.fraction_bits) - 1))
        | field << places[0]
        | (rest >> places[0]) << places[1]
    )


def _with_specials(random: Random, kind: str, count: int, share: float = 0.04) -> Bits:
    form = FORMATS[kind]
    infinity = ((1 << form.exponent_bits) - 1) << form.fraction_bits
    special = [
        0,
        1,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity | 1 << form.fraction_bits - 1,
        1 << form.fraction_bits,
    ]
    chosen = np.array(special, np.uint64)[random.integers(0, len(special), count)]
    chosen |= random.integers(0, 2, count).astype(np.uint64) << np.uint64(form.bits - 1)
    return np.where(
        random.random(count) < share, chosen, encoded(random.standard_normal(count), kind)
    )


def _middle(kind: str, random: Random, count: int, spread: int) -> Bits:
    bias = FORMATS[kind].bias
    top = (1 << FORMATS[kind].exponent_bits) - 2
    return _fields(random, kind, count, max(bias - spread, 0), min(bias + spread, top))


def _few(random: Random, kind: str, count: int) -> Bits:
    """Mostly zeros, and specials among the others."""
    return np.where(
        random.random(count) < 0.9, np.uint64(0), _with_specials(random, kind, count, 0.3)
    )


def _tiny(random: Random, kind: str, count: int) -> Bits:
    """Return numbers of bf16 whose products are about as small as f32's subnormal numbers."""
    bias = FORMATS[kind].bias
    return _fields(random, kind, count, max(bias - 62, 0), max(bias - 48, 1))


def _large_integers(random: Random, kind: str, count: int) -> Bits:
    limit = 2 << FORMATS[kind].fraction_bits
    return encoded(random.integers(limit // 2, limit, count), kind)


Sample = Callable[[Random, str, int], Bits]
SAMPLES: dict[str, Sample] = {
    "normal": lambda random, kind, count: encoded(random.standard_normal(count), kind),
    "bits": lambda random, kind, count: random.integers(0, 1 << FORMATS[kind].bits, count).astype(
        np.uint64
    ),
    "wide": lambda random, kind, count: _fields(
        random, kind, count, 0, (1 << FORMATS[kind].exponent_bits) - 2
    ),
    "near 1": lambda random, kind, count: _middle(kind, random, count, 3),
    "far from 1": lambda random, kind, count: _middle(kind, random, count, 20),
    "subnormal": lambda random, kind, count: _fields(random, kind, count, 0, 1),
    "integers": lambda random, kind, count: encoded(random.integers(-8, 9, count), kind),
    "halves": lambda random, kind, count: encoded(random.integers(-16, 17, count) / 8, kind),
    "zeros": lambda random, kind, count: encoded(
        random.standard_normal(count) * (random.random(count) < 0.3), kind
    ),
    "specials": _with_specials,
    "few": _few,
    "tiny": _tiny,
    "large integers": _large_integers,
    "edges": lambda random, kind, count: _with_specials(random, kind, count, 0.15),
    "nothing": lambda random, kind, count: np.zeros(count, np.uint64),
    "large": lambda random, kind, count: _fields(
        random,
        kind,
        count,
        (1 << FORMATS[kind].exponent_bits) - 6,
        (1 << FORMATS[kind].exponent_bits) - 2,
    ),
}
# What A and B are, and C. Those of a row of a matrix that cancel are made from others.
CASES = [
    ("normal", "nothing"), ("normal", "normal"), ("normal", "wide"), ("normal", "large"),
    ("near 1", "near 1"),
    ("far from 1", "far from 1"), ("bits", "bits"), ("wide", "wide"), ("wide", "nothing"),
    ("large", "large"),
    ("subnormal", "subnormal"), ("subnormal", "nothing"), ("nothing", "wide"),
    ("integers", "integers"),
    ("integers", "normal"), ("large integers", "integers"), ("few", "few"), ("few", "nothing"),
    ("near 1", "subnormal"), ("tiny", "subnormal"), ("halves", "halves"), ("zeros", "zeros"),
    ("zeros", "subnormal"),
    ("specials", "specials"), ("edges", "edges"), ("edges", "nothing"), ("cancelling", "nothing"),
    ("cancelling", "subnormal"), ("cancelling", "far from 1"),
]  # fmt: skip


def registers(random: Random, kind: str, name: str, count: int, lanes: int) -> Registers:
    """Return registers of a sample's elements."""
    width = np.uint64(FORMATS[kind].bits)
    per = 32 // int(width)
    elements = SAMPLES[name](random, kind, count * per * lanes).reshape(count, per, lanes)
    shifts = np.arange(per, dtype=np.uint64)[:, None] * width
    return np.bitwise_or.reduce(elements << shifts, axis=1).astype(np.uint32)


def factor_pair(
    random: Random, a: str, b: str, name: str, counts: tuple[int, int], lanes: int
) -> list[Registers]:
    """Return registers of A and B. Where they cancel, neighbours are alike and those of B have
    opposite signs."""
    if name != "cancelling":
        return [
            registers(random, kind, name, count, lanes)
            for kind, count in zip((a, b), counts, strict=True)
        ]
    left, right = factor_pair(random, a, b, "far from 1", counts, lanes)
    width = FORMATS[a].bits
    low = np.uint32(0xFFFF if width == 16 else 0x00FF00FF)
    signs = np.uint32(0x80000000 if width == 16 else 0x80008000)
    noise = random.integers(0, 4, left.shape).astype(np.uint32)
    left = (left & low) | ((left & low) ^ noise) << np.uint32(width)
    return [left, ((right & low) | (right & low) << np.uint32(width)) ^ signs]


@dataclass(frozen=True)
class Instruction:
    """A float matrix instruction of a wave."""

    shape: Shape

    def __str__(self) -> str:
        return f"{self.mnemonic}-w{self.shape.wave.size}"

    @property
    def mnemonic(self) -> str:
        shape = self.shape
        kinds = shape.a if shape.a in ("f16", "bf16") else f"{shape.a}_{shape.b}"
        name, k = ("swmmac", 32) if shape.sparse else ("wmma", 16)
        return f"v_{name}_{shape.result}_16x16x{k}_{kinds}"

    @property
    def counts(self) -> tuple[int, int, int]:
        """Registers of A, B and C."""
        shape = self.shape
        width = FORMATS[shape.a].bits
        factor = 16 * shape.held * width // (32 * shape.wave.size)
        result = 256 * FORMATS[shape.result].bits // (32 * shape.wave.size)
        return factor, factor * (2 if shape.sparse else 1), result

    def run(self, inputs: list[Registers], chosen: int = 0, **options: Any) -> Registers:
        """Return D's registers for operands of one or more waves side by side: A, B, C and, if
        sparse, the index."""
        starts = np.cumsum([1, *(len(part) for part in inputs)])
        names = [
            f"v[{first}:{first + len(part) - 1}]" if len(part) > 1 else f"v{first}"
            for first, part in zip(starts, inputs, strict=False)
        ]
        count = self.counts[2]
        if self.shape.sparse:
            copies = [f"  v_mov_b32 v{100 + word}, v{starts[2] + word}" for word in range(count)]
            key = f" index_key:{chosen}" if chosen else ""
            copies.append(
                f"  {self.mnemonic} v[100:{99 + count}], {names[0]}, {names[1]}, {names[3]}{key}"
            )
            body = "\n".join(copies)
        else:
            body = f"  {self.mnemonic} v[100:{99 + count}], {', '.join(names)}"
        outputs = list(range(100, 100 + count))
        return run_registers(
            body, np.concatenate(inputs), outputs, wave_size=self.shape.wave.size, **options
        )

    def sample(self, random: Random, case: tuple[str, str], waves: int = 1) -> list[Registers]:
        """Return the operands of that many waves."""
        shape, (a, b, c) = self.shape, self.counts
        lanes = shape.wave.size * waves
        parts = [
            *factor_pair(random, shape.a, shape.b, case[0], (a, b), lanes),
            registers(random, shape.result, case[1], c, lanes),
        ]
        return (
            [*parts, random.integers(0, 1 << 32, (1, lanes), np.uint32)] if shape.sparse else parts
        )

    def expected(self, inputs: list[Registers], chosen: int = 0, clamps: bool = False) -> Registers:
        """Return D's registers as the model has them."""
        size = self.shape.wave.size
        found = []
        for first in range(0, inputs[0].shape[1], size):
            parts = [np.ascontiguousarray(part[:, first : first + size]) for part in inputs]
            found.append(self.shape.product(*parts[:3], *parts[3:], chosen=chosen, clamps=clamps))
        return np.concatenate(found, axis=1)

    def wrong(
        self, inputs: list[Registers], found: Registers, chosen: int = 0, clamps: bool = False
    ) -> int:
        """Return how many elements are not as the model has them."""
        return int((self.expected(inputs, chosen, clamps) != found).sum())


_KINDS = [
    ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "bf16"),
    *((a, b, "f32") for a in ("fp8", "bf8") for b in ("fp8", "bf8")),
]  # fmt: skip


def _instruction(kinds: tuple[str, str, str], wave: Wave, sparse: bool) -> Instruction:
    return Instruction(Shape(*kinds, 16, wave, sparse))


INSTRUCTIONS = [
    _instruction(kinds, wave, sparse)
    for sparse in (False, True)
    for wave in (W32, W64)
    for kinds in _KINDS
]


@dataclass(frozen=True)
class Dot:
    """A dot product of lanes."""

    mnemonic: str
    a: str
    b: str
    result: str

    def sample(self, random: Random, case: tuple[str, str], lanes: int) -> list[Registers]:
        """Return the registers of the factors and of C; 16-bit C has other bits above."""
        factors = factor_pair(random, self.a, self.b, case[0], (1, 1), lanes)
        return [*factors, registers(random, self.result, case[1], 1, lanes)]

    def run(self, inputs: list[Registers], **options: Any) -> list[int]:
        """Return the results."""
        found = run_registers(
            f"  {self.mnemonic} v100, v1, v2, v3", np.concatenate(inputs), [100], **options
        )
        return [int(value) & (1 << FORMATS[self.result].bits) - 1 for value in found[0]]

    def expected(self, inputs: list[Registers], clamps: bool = False) -> list[int]:
        """Return what the model has."""
        width = FORMATS[self.a].bits
        results = []
        for x, y, c in zip(*(part[0].tolist() for part in inputs), strict=True):
            factors = [
                [word >> start & (1 << width) - 1 for start in range(0, 32, width)]
                for word in (x, y)
            ]
            addend = c & (1 << FORMATS[self.result].bits) - 1
            results.append(dot_step(*factors, addend, (self.a, self.b), self.result, clamps))
        return results


DOTS = [
    Dot("v_dot2_f32_f16", "f16", "f16", "f32"),
    Dot("v_dot2_f32_bf16", "bf16", "bf16", "f32"),
    Dot("v_dot2_f16_f16", "f16", "f16", "f16"),
    Dot("v_dot2_bf16_bf16", "bf16", "bf16", "bf16"),
    *(Dot(f"v_dot4_f32_{a}_{b}", a, b, "f32") for a in ("fp8", "bf8") for b in ("fp8", "bf8")),
]
