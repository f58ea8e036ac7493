"""The MFMA and SMFMAC instructions of each processor of CDNA, and what their modifiers mean.

- `cbsz`, `abid`: block `abid` of every 2**cbsz neighbouring blocks of A is multiplied with all of
  these blocks of B. For instructions of several blocks; at most log2(blocks), and less than
  2**cbsz.
- `blgp` moves the lanes of B: 1 and 2 give lanes 0 to 31, or 32 to 63, to both halves, 3 rotates B
  down by 16 lanes, and 4 to 7 give one group of 16 lanes to all four. For products of f64, gfx942
  and gfx950 use its bits to negate A, B and C; gfx90a has neither.
- SMFMAC: `abid` is the set of the index's bits that is used, if `cbsz` is 0; else it is set 0.
- Scaled products: `cbsz` and `blgp` are the formats of A and B.

Sources: as `mfma_layouts`; the calculator's description of CBSZ, ABID and BLGP; LLVM's tests of the
assembler (MC/AMDGPU/mai-*.s) for which instructions take which modifier.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

import numpy as np

from amdjit.intrinsics.models.mfma_layouts import (
    FORMATS,
    SCALED_TOGETHER,
    WAVE_SIZE,
    Array,
    MfmaLayout,
)
from amdjit.target import with_builtins_of

CDNA = ("gfx908", "gfx90a", "gfx942", "gfx950")
"""The processors with MFMA, the oldest first."""

_BYTES = ("fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8")
# Names without `v_`, as clang has them; the processors that have them.
_NAMES: tuple[tuple[str, str], ...] = (
    (
        "mfma_f32_32x32x1f32 mfma_f32_16x16x1f32 mfma_f32_4x4x1f32 mfma_f32_32x32x2f32 "
        "mfma_f32_16x16x4f32 mfma_f32_32x32x4f16 mfma_f32_16x16x4f16 mfma_f32_4x4x4f16 "
        "mfma_f32_32x32x8f16 mfma_f32_16x16x16f16 mfma_i32_32x32x4i8 mfma_i32_16x16x4i8 "
        "mfma_i32_4x4x4i8",
        "gfx908 gfx90a gfx942 gfx950",
    ),
    (
        "mfma_i32_32x32x8i8 mfma_i32_16x16x16i8 mfma_f32_32x32x2bf16 mfma_f32_16x16x2bf16 "
        "mfma_f32_4x4x2bf16 mfma_f32_32x32x4bf16 mfma_f32_16x16x8bf16",
        "gfx908 gfx90a",
    ),
    (
        "mfma_f32_32x32x4bf16_1k mfma_f32_16x16x4bf16_1k mfma_f32_4x4x4bf16_1k "
        "mfma_f32_32x32x8bf16_1k mfma_f32_16x16x16bf16_1k mfma_f64_16x16x4f64 mfma_f64_4x4x4f64",
        "gfx90a gfx942 gfx950",
    ),
    ("mfma_f32_16x16x8_xf32 mfma_f32_32x32x4_xf32", "gfx942"),
    (
        "mfma_i32_16x16x32_i8 mfma_i32_32x32x16_i8 smfmac_f32_16x16x32_f16 "
        "smfmac_f32_32x32x16_f16 smfmac_f32_16x16x32_bf16 smfmac_f32_32x32x16_bf16 "
        "smfmac_i32_16x16x64_i8 smfmac_i32_32x32x32_i8 "
        + " ".join(
            f"mfma_f32_16x16x32_{pair} mfma_f32_32x32x16_{pair} smfmac_f32_16x16x64_{pair} "
            f"smfmac_f32_32x32x32_{pair}"
            for pair in _BYTES
        ),
        "gfx942 gfx950",
    ),
    (
        "mfma_f32_16x16x32_f16 mfma_f32_32x32x16_f16 mfma_f32_16x16x32_bf16 "
        "mfma_f32_32x32x16_bf16 mfma_i32_16x16x64_i8 mfma_i32_32x32x32_i8 "
        "mfma_scale_f32_16x16x128_f8f6f4 mfma_scale_f32_32x32x64_f8f6f4 "
        "smfmac_f32_16x16x64_f16 smfmac_f32_32x32x32_f16 smfmac_f32_16x16x64_bf16 "
        "smfmac_f32_32x32x32_bf16 smfmac_i32_16x16x128_i8 smfmac_i32_32x32x64_i8 "
        + " ".join(f"smfmac_f32_16x16x128_{pair} smfmac_f32_32x32x64_{pair}" for pair in _BYTES),
        "gfx950",
    ),
)
_NAME = re.compile(
    r"(?P<family>mfma|mfma_scale|smfmac)_(?P<result>[a-z]+\d+)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)"
    r"_?(?P<types>[a-z]+\w*?)(?P<wide>_1k)?"
)
# Elements of A that a lane holds at least. The older products of bf16 take two, those of
# `_1k` four.
_HELD: Mapping[str, int] = MappingProxyType({"f64": 1, "f32": 1, "xf32": 2, "bf16": 2})


@dataclass(frozen=True, slots=True)
class MfmaInstruction:
    """D = A B + C in each of `blocks` blocks: D and C m by n, A m by k, B k by n.

    name: clang's, without `__builtin_amdgcn_`. a, b, result: types by their names in `DTYPES`; a
    scaled product's A and B have any of `FORMATS`, and `f8f6f4` stands for them. is_sparse: of
    every four neighbours in a row of A at most two are nonzero, and only two are held.
    """

    name: str
    target: str
    result: str
    a: str
    b: str
    m: int
    n: int
    k: int
    blocks: int
    is_sparse: bool

    @property
    def is_scaled(self) -> bool:
        """Whether A and B have scales, and formats that the call chooses."""
        return self.a == "f8f6f4"

    @property
    def is_integer(self) -> bool:
        """Whether it multiplies integers."""
        return self.result == "i32"

    @property
    def held_k(self) -> int:
        """Elements of a row of A that are in the registers."""
        return self.k // 2 if self.is_sparse else self.k

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands that have a layout."""
        more = ("index",) if self.is_sparse else ("scale_a", "scale_b") if self.is_scaled else ()
        return ("a", "b", "c", "d", *more)

    @property
    def highest_cbsz(self) -> int:
        """The largest `cbsz` that broadcasts blocks of A; 0 if there is none."""
        return self.blocks.bit_length() - 1 if self.result != "f64" else 0

    @property
    def negates(self) -> bool:
        """Whether the bits of `blgp` negate A, B and C."""
        return self.result == "f64" and self.target in ("gfx942", "gfx950")

    @property
    def highest_blgp(self) -> int:
        """The largest `blgp` that moves the lanes of B or negates; 0 if there is none."""
        if self.is_sparse or self.is_scaled or self.a[:3] in ("fp8", "bf8"):
            return 0
        return 7 if self.result != "f64" or self.negates else 0

    def layout(self, operand: str, format: str = "fp8") -> MfmaLayout:
        """Return how an operand lies in the wave. format: of a scaled product's A or B, one of
        `FORMATS`. Raises ValueError if the instruction has no such operand or format."""
        if operand not in self.operands:
            known = ", ".join(self.operands)
            raise ValueError(f"{self.name} has no operand {operand!r}: it has {known}")
        if format not in FORMATS:
            raise ValueError(f"format {format!r}: give one of {', '.join(FORMATS)}")
        if operand in ("c", "d"):
            elements = self.m * self.n * self.blocks // WAVE_SIZE
            return self._laid_out(operand, self.result, self.m, self.n, elements)
        if operand.startswith("scale"):
            along = self.k // SCALED_TOGETHER
            shape = (self.m, along) if operand == "scale_a" else (along, self.n)
            return self._laid_out(operand, "e8m0", *shape, 1)
        along = self.k if operand == "b" else self.held_k
        rows, columns = (along, self.n) if operand == "b" else (self.m, along)
        kind = self.b if operand == "b" else self.a
        kind = "position" if operand == "index" else format if self.is_scaled else kind
        elements = rows * columns * self.blocks // WAVE_SIZE
        # Bytes of scaled products: 16 neighbours, which fill four registers, then 16 others.
        run = 16 if self.is_scaled and format in ("fp8", "bf8") else elements
        return self._laid_out(operand, kind, rows=rows, columns=columns, elements=elements, run=run)

    def _laid_out(
        self, operand: str, kind: str, rows: int, columns: int, elements: int, run: int = 1
    ) -> MfmaLayout:
        return MfmaLayout(
            self.name,
            operand,
            kind=kind,
            blocks=self.blocks,
            rows=rows,
            columns=columns,
            elements=elements,
            run=run,
        )


def _instruction(name: str, target: str) -> MfmaInstruction:
    found = _NAME.fullmatch(name)
    assert found is not None, name
    m, n, k = (int(found[size]) for size in ("m", "n", "k"))
    is_sparse = found["family"] == "smfmac"
    first, _, second = found["types"].partition("_")
    held = 4 if found["wide"] else _HELD.get(first, 4)
    pair = (first, second or first)
    if target == "gfx942":
        pair = (_fnuz(pair[0]), _fnuz(pair[1]))
    blocks = 1 if is_sparse else max(1, WAVE_SIZE * held // (m * k))
    return MfmaInstruction(name, target, found["result"], *pair, m, n, k, blocks, is_sparse)


def _fnuz(kind: str) -> str:
    """Return the name of a type on gfx942, whose 8-bit floats have neither -0 nor infinities."""
    return f"{kind}_fnuz" if kind in ("fp8", "bf8") else kind


@cache
def mfma_instructions(target: str) -> Mapping[str, MfmaInstruction]:
    """Return a processor's instructions by clang's names. Raises ValueError for one that has
    none."""
    own = cdna_of(target)
    if own is None:
        raise ValueError(f"no MFMA instructions of {target!r} are known: give {', '.join(CDNA)}")
    return MappingProxyType(
        {
            name: _instruction(name, own)
            for names, targets in _NAMES
            if own in targets.split()
            for name in names.split()
            if target in with_builtins_of(own, builtin=name)
        }
    )


def cdna_of(target: str) -> str | None:
    """Return the processor of CDNA whose instructions a processor has, itself or for a generic one
    another; None for others."""
    return next((name for name in CDNA if target in with_builtins_of(name, builtin="mfma")), None)


@cache
def _aliases(target: str) -> Mapping[str, str]:
    """Return clang's names by the assembler's of this processor, both in one spelling."""
    is_new = target in ("gfx942", "gfx950")
    return MappingProxyType(
        {
            _spelled(name.removesuffix("_1k") if is_new else name): name
            for name in mfma_instructions(target)
        }
    )


def _spelled(name: str) -> str:
    """Return a name without the number of blocks, and without `_` before the types, as
    `32x32x4f16` of `32x32x4_2b_f16`."""
    return re.sub(r"(x\d+)(?:_\d+b)?_", r"\1", name)


@cache
def mfma_instruction(name: str, target: str) -> MfmaInstruction:
    """Return a processor's instruction by clang's name, or by the assembler's without `v_`. Raises
    ValueError for other names, and for other processors."""
    known = mfma_instructions(target)
    if name in known:
        return known[name]
    alias = _aliases(target).get(_spelled(name))
    if alias is not None:
        return known[alias]
    alike = get_close_matches(name.removeprefix("v_"), known, 3)
    remedy = f"did you mean {', '.join(alike)}?" if alike else f"such as {next(iter(known))}"
    raise ValueError(f"{name!r} is no MFMA or SMFMAC instruction of {target}: {remedy}")


def broadcast_blocks(instruction: MfmaInstruction, cbsz: int, abid: int) -> Array:
    """Return which block of A each block of B is multiplied with. Raises ValueError for modifiers
    that the instruction has not."""
    highest = instruction.highest_cbsz
    if not 0 <= cbsz <= highest:
        raise ValueError(f"cbsz={cbsz}: {instruction.name} takes 0 to {highest}")
    if not 0 <= abid < 1 << cbsz:
        raise ValueError(f"abid={abid}: with cbsz={cbsz} it is 0 to {(1 << cbsz) - 1}")
    numbers = np.arange(instruction.blocks)
    return numbers if cbsz == 0 else (numbers >> cbsz << cbsz) + abid


def lanes_of_b(instruction: MfmaInstruction, blgp: int) -> Array:
    """Return which lane's B each lane multiplies. Raises ValueError for a `blgp` that the
    instruction has not."""
    if not 0 <= blgp <= instruction.highest_blgp:
        raise ValueError(f"blgp={blgp}: {instruction.name} takes 0 to {instruction.highest_blgp}")
    lane = np.arange(WAVE_SIZE)
    if blgp == 0 or instruction.negates:
        return lane
    if blgp < 3:
        return lane % 32 + 32 * (blgp - 1)
    return (lane + 16) % WAVE_SIZE if blgp == 3 else lane % 16 + 16 * (blgp - 4)
