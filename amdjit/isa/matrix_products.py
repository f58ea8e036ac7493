"""What the name of a matrix instruction says about its product."""

from __future__ import annotations

from amdjit.late_methods import dataclass


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
