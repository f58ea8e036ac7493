"""How long uses have to wait where it depends on both instructions: of matrix and dot products, and
direct loads of LDS.

LLVM 22 has the numbers: GCNHazardRecognizer, checkMAIHazards908, checkMAIHazards90A and
checkMAIVALUHazards; CDNA 3 ISA, 4.5 "Manually inserted wait states", has most of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from amdjit.emulator.checks.waits.acts import Step
from amdjit.isa.instruction import Register
from amdjit.isa.matrix_products import MATRIX_CORES_3

__all__ = [
    "after_c",
    "after_c_of_accumulators",
    "as_c",
    "as_factor",
    "of_direct_load",
    "of_dot",
    "of_dot_overwritten",
    "of_memory_before_direct_load",
    "overwritten",
    "read",
    "sent",
]


class _Use(Enum):
    """What an instruction does with a register of the result."""

    FACTOR = "A, B, indices or scales of another product"
    SAME = "C of another product, in exactly the registers of the result"
    OVERLAPPING = "C of another product, in other registers with some of these"
    READ = "read by the vector ALU"
    SENT = "read by a memory instruction"
    OVERWRITTEN = "overwritten by the vector ALU or a load"


# Products of f64: wait states by passes. The results of 4x4x4 ones are late even as C of another.
_DOUBLE: Mapping[int, Mapping[_Use, int]] = {
    passes: dict(zip(_Use, states, strict=True))
    for passes, states in {
        4: (6, 4, 4, 6, 9, 6),
        8: (11, 0, 9, 11, 18, 11),
        16: (19, 0, 17, 19, 18, 11),
    }.items()
}


@dataclass(frozen=True, slots=True)
class _Product:
    """An MFMA, whose result is in `result`."""

    processor: str
    passes: int
    is_double: bool
    is_xdl: bool
    result: Register

    @staticmethod
    def of(step: Step) -> _Product:
        instruction = step.instruction
        product, result = instruction.traits.block_product, instruction.operands[0]
        assert product is not None
        assert isinstance(result, Register)
        processor = instruction.opcode.instruction_set.name
        return _Product(
            processor,
            product.passes(result.dwords, processor),
            product.result == "f64",
            product.is_xdl(processor),
            result,
        )

    def states(self, use: _Use, user: _Product | None = None) -> int:
        """Return the wait states that a use of the result needs. user: the product that uses it, if
        it is one."""
        if self.is_double:
            return self._double(use, user)
        if use is _Use.SAME:
            # Other results are handed on within the matrix unit.
            return 2 if self.passes == 2 and self._is_new else 0
        if self.processor == "gfx908":
            rows = {_Use.FACTOR: 4, _Use.OVERLAPPING: 2, _Use.OVERWRITTEN: self.passes - 1}
            return rows.get(use, self.passes + 2)
        if use is _Use.OVERLAPPING:
            assert user is not None
            return self._overlapping(user)
        return self.passes + (3 + self._late if self.is_xdl else 2)

    @property
    def _is_new(self) -> bool:
        return self.processor in MATRIX_CORES_3

    @property
    def _late(self) -> int:
        """The results of XDL are a wait state later on gfx950, except the fastest."""
        return int(self.processor == "gfx950" and self.passes != 2)

    def _overlapping(self, user: _Product) -> int:
        if not self._is_new:
            return self.passes + int(user.is_double)
        if not self.is_xdl:
            return 0 if user.is_xdl else self.passes
        late = int(self.processor == "gfx950") if user.is_xdl else self._late
        return self.passes + 1 + late

    def _double(self, use: _Use, user: _Product | None) -> int:
        states = _DOUBLE[self.passes][use]
        if use is _Use.SAME:
            return states if user is not None and user.is_double and user.passes == 4 else 0
        if use is _Use.OVERLAPPING and user is not None and user.is_xdl:
            return 0
        return states


# What rows of results call: the product, the instruction that uses it, and the registers that it
# uses.


def as_factor(product: Step, _user: Step, _registers: int) -> int:
    """Return the wait states before a result is A, B, indices or scales of a product."""
    return _Product.of(product).states(_Use.FACTOR)


def as_c(product: Step, user: Step, _registers: int) -> int:
    """Return the wait states before a result is C of a product."""
    made, takes = _Product.of(product), _Product.of(user)
    traits = user.instruction.traits.block_product
    assert traits is not None
    c = user.instruction.operand("vdst" if traits.sparse else "src2")
    return made.states(_Use.SAME if c == made.result else _Use.OVERLAPPING, takes)


def read(product: Step, _user: Step, _registers: int) -> int:
    """Return the wait states before the vector ALU reads a result."""
    return _Product.of(product).states(_Use.READ)


def sent(product: Step, _user: Step, _registers: int) -> int:
    """Return the wait states before a memory instruction reads a result."""
    return _Product.of(product).states(_Use.SENT)


def overwritten(product: Step, _user: Step, _registers: int) -> int:
    """Return the wait states before something else overwrites a result."""
    return _Product.of(product).states(_Use.OVERWRITTEN)


def after_c(product: Step, _user: Step, _registers: int) -> int:
    """Return the wait states before something overwrites the C of a product that is read late."""
    return _Product.of(product).passes - 1


def after_c_of_accumulators(product: Step, _user: Step, _registers: int) -> int:
    """Return the same for gfx908, where C is read in fewer passes."""
    return max(0, _Product.of(product).passes - 3)


# Dot products hand their results on to the C of the next one of their kind.
_DOT_STATES = 3


def of_dot(dot: Step, user: Step, registers: int) -> int:
    """Return the wait states before a sum is read."""
    if dot.instruction.opcode != user.instruction.opcode:
        return _DOT_STATES
    return _DOT_STATES if registers & user.operands("src0", "src1") else 0


def of_dot_overwritten(dot: Step, user: Step, _registers: int) -> int:
    """Return the wait states before a sum is overwritten."""
    return 0 if dot.instruction.opcode == user.instruction.opcode else _DOT_STATES


# A direct load of LDS waits by itself until at most this many vector instructions are still
# running, and on gfx12 until memory instructions have read their VGPRs.
_MOST = 15


def of_direct_load(first: Step, load: Step, _registers: int) -> int:
    """Return how many vector instructions have to be between one and a load into its registers."""
    fields = load.instruction.immediates
    left = fields.get("wait_vdst", fields.get("wait_va_vdst", 0))
    return _MOST if left and first.is_transcendental else left


def of_memory_before_direct_load(_first: Step, load: Step, _registers: int) -> int:
    """Return whether a load does not wait for what memory instructions read."""
    return int(load.instruction.immediates.get("wait_vm_vsrc", 1) != 0)
