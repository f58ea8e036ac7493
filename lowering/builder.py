"""The IR builder: llvmlite's, extended by what the AMDGPU target needs.

These are instructions with sync scopes, address spaces and new flags, free-form attributes, and
calls by name.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from llvmlite import ir
from llvmlite.ir.values import MDValue

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.types import (
    I1,
    I8,
    I32,
    PRIVATE_SPACE,
    VOID,
    Literal,
    constant_value,
    literal,
    mangled,
)

__all__ = ["Builder", "LoopMetadata", "TextAttributes", "TextInstruction", "folded"]


# LLVM's functions that are `convergent`: which lanes are active is one of their operands.
# `wave.barrier` is one, too, but combines nothing.
_CROSSES_LANES = re.compile(
    r"llvm\.amdgcn\.(?:ballot|[if]cmp|read(?:first)?lane|writelane|(?:update|mov)\.dpp|permlane|"
    r"ds\.(?:b?permute|swizzle|gws|append|consume|read\.tr|load\.tr)|global\.load\.tr|"
    r"set\.inactive|strict\.w|wave\.reduce|s\.(?:barrier|get\.\w*\.?barrier)|"
    r"s?mfma|smfmac|s?wmma|swmmac)"
)


@cache
def _crosses_lanes(name: str) -> bool:
    return _CROSSES_LANES.match(name) is not None


class TextInstruction(ir.Instruction):  # type: ignore[misc]
    """An instruction written as text: `head type operand, type operand ... tail`."""

    def __init__(
        self, block: Any, llvm_type: Any, head: str, operands: Sequence[Any], tail: str
    ) -> None:
        super().__init__(block, llvm_type, head, tuple(operands))
        self.tail = tail

    def _to_string(self) -> str:
        # llvmlite's own version makes four more calls, and half of a module's instructions are of
        # this class.
        result = "" if self.type is VOID else f"{self.get_reference()} = "
        operands = ", ".join(
            [f"{operand.type} {operand.get_reference()}" for operand in self.operands]
        )
        metadata = "".join(
            [f", !{name} {node.get_reference()}" for name, node in self.metadata.items()]
        )
        return f"{result}{self.opname} {operands}{self.tail}{metadata}"


class TextAttributes(list[str]):
    """Attributes of a function or argument, each as LLVM's text."""

    def _to_list(self, _llvm_type: Any) -> list[str]:
        return list(self)


class LoopMetadata(MDValue):  # type: ignore[misc]
    """A loop's identity: a distinct node whose first operand is itself (LLVM language reference,
    "llvm.loop")."""

    def descr(self, buffer: list[str]) -> None:
        """Append the text to llvmlite's buffer."""
        operands = ", ".join(
            [self.get_reference(), *(operand.get_reference() for operand in self.operands)]
        )
        buffer.append(f"distinct !{{ {operands} }}\n")


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """Builds one function.

    fast_math: the flags of every floating-point instruction. allocas: the builder of the entry
    block, which contains nothing but allocas and marks of their lives, so that SROA promotes them
    all. has_eight_bit_floats: the processor has instructions that convert OCP 8-bit floats.
    crossings: how many operations across lanes there are so far.
    """

    def __init__(
        self, function: Any, fast_math: tuple[str, ...], has_eight_bit_floats: bool
    ) -> None:
        self.entry = function.append_basic_block("entry")
        super().__init__(function.append_basic_block("body"))
        self.fast_math = fast_math
        self.has_eight_bit_floats = has_eight_bit_floats
        self.crossings = 0
        self.allocas = ir.IRBuilder(self.entry)

    def finish(self) -> None:
        """Close the entry block once all allocas are known."""
        self.allocas.position_at_end(self.entry)
        self.allocas.branch(self.function.blocks[1])

    def record(self, record: Any) -> None:
        """Add a debug record, which is no instruction."""
        self._block.instructions.insert(self._anchor, record)
        self._anchor += 1

    def text(self, llvm_type: Any, head: str, operands: Sequence[Any] = (), tail: str = "") -> Any:
        """Add an instruction that llvmlite has no class for."""
        instruction = TextInstruction(self.block, llvm_type, head, operands, tail)
        self._insert(instruction)
        return instruction

    def operation(self, name: str, left: Any, right: Any, flags: Sequence[str] = ()) -> Any:
        """Add a two-operand instruction whose result has the operands' type."""
        if left.type != right.type:
            raise InternalError(f"{name} of {left.type} and {right.type}")
        if isinstance(right, Literal) and (known := folded(name, left, right)) is not None:
            return known
        instruction = ir.Instruction(self.block, left.type, name, (left, right), flags=tuple(flags))
        self._insert(instruction)
        return instruction

    def float_operation(self, name: str, left: Any, right: Any) -> Any:
        """Add a floating-point instruction with the compilation's fast-math flags."""
        return self.operation(name, left, right, self.fast_math)

    def allocate(self, llvm_type: Any, alignment: int = 0) -> Any:
        """Reserve private memory for the whole function (LLVM AMDGPU guide, "Address Spaces":
        allocas are private)."""
        align = f", align {alignment}" if alignment else ""
        tail = f"{align}, addrspace({PRIVATE_SPACE.addrspace})"
        instruction = TextInstruction(self.entry, PRIVATE_SPACE, f"alloca {llvm_type}", (), tail)
        self.entry.instructions.append(instruction)
        self.allocas.position_at_end(self.entry)
        return instruction

    def read(self, llvm_type: Any, pointer: Any, alignment: int = 0, volatile: bool = False) -> Any:
        """Load."""
        head = f"load volatile {llvm_type}," if volatile else f"load {llvm_type},"
        return self.text(llvm_type, head, (pointer,), f", align {alignment}" if alignment else "")

    def write(self, pointer: Any, value: Any, alignment: int = 0, volatile: bool = False) -> Any:
        """Store; return the instruction."""
        tail = f", align {alignment}" if alignment else ""
        return self.text(VOID, "store volatile" if volatile else "store", (value, pointer), tail)

    def offset(
        self, pointer: Any, count: Any, unit: Any = I8, no_wrap: str = "inbounds nuw"
    ) -> Any:
        """Return the pointer advanced by that many units (bytes by default)."""
        return self.text(pointer.type, f"getelementptr {no_wrap} {unit},", (pointer, count))

    def invoke_name(
        self, name: str, result: Any, arguments: Sequence[Any], *, fast: bool = False
    ) -> Any:
        """Call a function by name; declare it if it is new.

        Declarations carry no attributes: LLVM attaches those of its intrinsics when it parses the
        name.
        """
        function = self.module.globals.get(name)
        if function is None:
            function_type = ir.FunctionType(result, [argument.type for argument in arguments])
            function = ir.Function(self.module, function_type, name)
        self.crossings += _crosses_lanes(name)
        return self.call(function, arguments, fastmath=self.fast_math if fast else ())

    def intrinsic(self, name: str, *arguments: Any, fast: bool = False) -> Any:
        """Call an overloaded LLVM intrinsic whose result and overload are the first argument's
        type."""
        overload = arguments[0].type
        return self.invoke_name(f"{name}.{mangled(overload)}", overload, arguments, fast=fast)

    def opaque(self, value: Any) -> Any:
        """Return an integer as one that LLVM's passes know nothing of.

        Instruction selection puts the operand in the place of an annotation.
        """
        nothing = Literal(ir.PointerType(), "null")
        operands = [value, nothing, nothing, literal(I32, 0)]
        return self.invoke_name(f"llvm.annotation.{mangled(value.type)}.p0", value.type, operands)

    def splat(self, scalar: Any, vector_type: Any) -> Any:
        """Return a vector with the scalar in every element."""
        if isinstance(scalar, Literal):
            return Literal(vector_type, f"splat ({scalar.type} {scalar.get_reference()})")
        poison = Literal(vector_type, "poison")
        first = self.insert_element(poison, scalar, literal(I32, 0))
        return self.shuffle(first, poison, [0] * vector_type.count)

    def shuffle(self, left: Any, right: Any, indices: Sequence[int]) -> Any:
        """Pick elements by constant indices, counted through both vectors."""
        llvm_type = ir.VectorType(left.type.element, len(indices))
        mask_type = ir.VectorType(I32, len(indices))
        mask = Literal(mask_type, f"<{', '.join([f'i32 {index}' for index in indices])}>")
        return self.text(llvm_type, "shufflevector", (left, right, mask))

    def is_zero(self, value: Any) -> Any:
        """Compare an integer, or each element, with 0."""
        return self.icmp_unsigned("==", value, literal(value.type, 0))

    def choose(self, condition: Any, when_true: Any, when_false: Any) -> Any:
        """Select, elementwise if the condition is a vector."""
        return self.select(condition, when_true, when_false)

    def flag(self, value: bool) -> Any:
        """Return an i1 constant."""
        return literal(I1, value)


# Integer arithmetic that needs no instruction, since the right operand or both are constants.
#
# before: `add i32 %x, 0`, `mul i32 6, 7`
# after:  `%x`, `42`
#
# LLVM's own IRBuilder folds these, but llvmlite's does not; unrolled loops are full of them.

_NEUTRAL: Mapping[str, int] = MappingProxyType(
    {
        "add": 0,
        "sub": 0,
        "or": 0,
        "xor": 0,
        "shl": 0,
        "lshr": 0,
        "ashr": 0,
        "mul": 1,
        "sdiv": 1,
        "udiv": 1,
    }
)
_EXACT: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "and": operator.and_,
        "or": operator.or_,
        "xor": operator.xor,
    }
)


def folded(name: str, left: Any, right: Any) -> Any:
    """Return the result of a two-operand instruction with a constant on the right, None if it is
    not known.

    Results wrap, which an instruction with no-wrap flags may do too.
    """
    number = constant_value(right) if isinstance(right.type, ir.IntType) else None
    if number is None:
        return None
    if _NEUTRAL.get(name) == number:
        return left
    known = constant_value(left)
    if known is None or name not in _EXACT:
        return None
    return literal(right.type, _EXACT[name](known, number))
