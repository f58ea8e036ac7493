"""What the name of a matrix instruction says about its product."""

from __future__ import annotations

from collections.abc import Iterable

from amdjit.late_methods import dataclass

# The instruction sets of CDNA 3 and 4.
MATRIX_CORES_3 = ("gfx942", "gfx950")


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """A WMMA or SWMMAC instruction: the types of D and of A's and B's elements, and the depth K."""

    result: str
    a: str
    b: str
    k: int
    sparse: bool


@dataclass(frozen=True, slots=True)
class BlockProduct:
    """An MFMA or SMFMAC instruction: the types of D and of A's and B's elements, and the shape of a
    block, m by m, and k. How many blocks it multiplies follows from the registers of A. f8f6f4: the
    operands choose the types."""

    result: str
    a: str
    b: str
    m: int
    k: int
    sparse: bool

    def blocks(self, dwords: int) -> int:
        """Return how many blocks there are. dwords: registers of D, in each of 64 lanes."""
        return dwords * 64 * 32 // (int(self.result[1:]) * self.m * self.m)

    def passes(self, dwords: int, processor: str) -> int:
        """Return for how many quanta of four cycles the matrix unit is busy. dwords: registers of
        D; processor: the name of the instruction set.

        LLVM's scheduling models (SISchedule.td); AMD's matrix instruction calculator says the same
        for gfx90a and gfx942. For f8f6f4 products they take all formats for as fast as f4: see
        `f8_factor`.
        """
        if self.result == "f64":
            is_half = processor == "gfx950" and self.m == 16
            return {4: 4, 16: 16 if is_half else 8}[self.m]
        is_fast = processor in MATRIX_CORES_3 and self.blocks(dwords) == 1 and self.a != "f32"
        return self.m // (4 if is_fast else 2)

    def f8_factor(self, formats: Iterable[int]) -> int:
        """Return how many times as long an f8f6f4 product of these formats takes: twice with 8 bits
        (AMD's Origami, INSTRUCTION_MAP; AMD's peak of 8,192 FLOP a clock and compute unit)."""
        return 2 if self.a == "f8f6f4" and any(each in _EIGHT_BITS for each in formats) else 1

    def is_xdl(self, processor: str) -> bool:
        """Whether the XDL unit multiplies, beside which the vector ALU works; products of f64, and
        from gfx942 on those of f32, use the vector ALU's own multipliers."""
        return self.a not in ("f64", *(("f32",) if processor in MATRIX_CORES_3 else ()))


# The numbers of fp8 and bf8 in cbsz and blgp (CDNA 4 ISA, V_MFMA_F32_16X16X128_F8F6F4).
_EIGHT_BITS = (0, 1)
