"""The implementation of `declarations.EmitContext`, which an `Emit` intrinsic gets for each
call."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.builder import Builder
from amdjit.lowering.conversions import bitcast, from_memory, to_memory
from amdjit.lowering.global_memory import Ordered
from amdjit.lowering.reports import word_of_record
from amdjit.lowering.state import FunctionState
from amdjit.lowering.types import (
    CONSTANT_SPACE,
    FLOAT,
    GENERIC,
    I1,
    I8,
    I16,
    I32,
    I64,
    VOID,
    Literal,
    constant,
    element_type,
    literal,
    llvm_type,
    memory_type,
    undefined,
)
from amdjit.options import CompileOptions
from amdjit.target import Target
from amdjit.types import Scalar, Type, Vector, Void

__all__ = ["LoweringContext", "implicit_argument"]

_GROUP_SIZES = {12: 0, 14: 1, 16: 2}


class LoweringContext:
    """The lowering's helpers for intrinsics; the methods are described in
    `declarations.EmitContext`."""

    def __init__(self, state: FunctionState, types: tuple[Type, ...], result_type: Type) -> None:
        self.builder = state.builder
        self._state = state
        self._options = state.module.options
        self._types = types
        self._result_type = result_type

    @property
    def types(self) -> tuple[Type, ...]:
        """The kernel-language types of the arguments (immediates excluded)."""
        return self._types

    @property
    def result_type(self) -> Type:
        """The kernel-language type of the result."""
        return self._result_type

    @property
    def target(self) -> Target:
        """The processor that this compilation is for."""
        return self._options.target

    @property
    def wavefront_size(self) -> int:
        """Lanes of a wave in this compilation."""
        return self._options.wave_size

    @property
    def has_all_lanes(self) -> bool:
        """Whether all lanes of the wave are certainly on where this call is."""
        shape, state = self._options.required_workgroup_size, self._state
        return (
            shape is not None
            and math.prod(shape) % self._options.wave_size == 0
            and state.is_straight
            and state.builder.function.calling_convention == "amdgpu_kernel"
        )

    @property
    def block(self) -> tuple[int, int, int] | None:
        """The shape of a workgroup if it is compiled in."""
        return self._options.required_workgroup_size

    def llvm_type(self, type: Type) -> Any:
        """Return the llvmlite type of a kernel-language type."""
        return llvm_type(type)

    def constant(self, type: Type, value: Any) -> Any:
        """Return an llvmlite constant."""
        return constant(type, value)

    def call(self, name: str, result: Any, arguments: list[Any]) -> Any:
        """Call the LLVM function `name`."""
        return self.builder.invoke_name(name, result, arguments)

    def call_structure(self, name: str, parts: tuple[Any, ...], arguments: list[Any]) -> list[Any]:
        """Call an LLVM function that returns a structure; return its parts."""
        called = self.builder.invoke_name(name, ir.LiteralStructType(parts), arguments)
        return [self.builder.extract_value(called, number) for number in range(len(parts))]

    def undefined(self, type: Type) -> Any:
        """Return a value that may be anything."""
        return undefined(llvm_type(type))

    def opaque(self, value: Any) -> Any:
        """Return an integer as one that LLVM's passes know nothing of."""
        return self.builder.opaque(value)

    def generic(self, pointer: Any) -> Any:
        """Return a pointer as a generic one."""
        return bitcast(self.builder, pointer, GENERIC)

    def text_operand(self, text: str) -> Any:
        """Return a text as a metadata operand."""
        return Literal(ir.MetaDataType(), self.builder.module.add_metadata([text]).get_reference())

    def bitcast(self, value: Any, llvm_type: Any) -> Any:
        """Return the same bits as another llvmlite type of the same size."""
        return bitcast(self.builder, value, llvm_type)

    def load(
        self,
        type: Type,
        pointer: Any,
        alignment: int = 0,
        volatile: bool = False,
        policy: str = "temporal",
    ) -> Any:
        """Return the scalar or vector at an LLVM pointer."""
        alignment = alignment or _natural_alignment(type)
        loaded = self.builder.read(memory_type(type), pointer, alignment, volatile)
        self._mark(loaded, policy)
        return from_memory(self.builder, loaded, type)

    def store(
        self,
        type: Type,
        pointer: Any,
        value: Any,
        alignment: int = 0,
        volatile: bool = False,
        policy: str = "temporal",
    ) -> None:
        """Write a scalar or vector to an LLVM pointer."""
        alignment = alignment or _natural_alignment(type)
        stored = self.builder.write(
            pointer, to_memory(self.builder, value, type), alignment, volatile
        )
        self._mark(stored, policy)

    def _mark(self, access: Any, policy: str) -> None:
        if policy == "last_use":
            access.set_metadata("amdgpu.last.use", self.builder.module.add_metadata([]))
        if policy == "non_temporal":
            # LLVM language reference, "load": the node of !nontemporal holds the number 1.
            access.set_metadata("nontemporal", self.builder.module.add_metadata([literal(I32, 1)]))

    def atomic_load(self, type: Type, pointer: Any, ordering: str, scope: str) -> Any:
        """Return the scalar at a pointer, read atomically."""
        llvm = memory_type(type)
        tail = f" {_scope(scope)}{ordering}, align {_natural_alignment(type)}"
        return from_memory(
            self.builder, self.builder.text(llvm, f"load atomic {llvm},", (pointer,), tail), type
        )

    def atomic_store(self, type: Type, pointer: Any, value: Any, ordering: str, scope: str) -> None:
        """Write a scalar atomically."""
        tail = f" {_scope(scope)}{ordering}, align {_natural_alignment(type)}"
        self.builder.text(
            VOID, "store atomic", (to_memory(self.builder, value, type), pointer), tail
        )

    def atomic_update(
        self, operation: str, pointer: Any, value: Any, ordering: str, scope: str
    ) -> Any:
        """Emit LLVM's `atomicrmw operation`; return the old value.

        The metadata allow the hardware's float atomics and wrapping counters. Fine-grained host
        memory does not support them (LLVM AMDGPU guide, "amdgpu.no.fine.grained.memory"), but
        kernels get device memory.
        """
        head, tail = f"atomicrmw {operation}", f" {_scope(scope)}{ordering}"
        instruction = self.builder.text(value.type, head, (pointer, value), tail)
        if operation.startswith(("f", "uinc", "udec")):
            empty = self.builder.module.add_metadata([])
            instruction.set_metadata("amdgpu.no.fine.grained.memory", empty)
            if element_type(value.type) == FLOAT:
                instruction.set_metadata("amdgpu.ignore.denormal.mode", empty)
        return instruction

    def atomic_compare_exchange(
        self, pointer: Any, expected: Any, desired: Any, ordering: str, scope: str
    ) -> Any:
        """Write `desired` if the integer at the pointer is `expected`; always return the old
        value."""
        failure = {"release": "monotonic", "acq_rel": "acquire"}.get(ordering, ordering)
        pair = ir.LiteralStructType([expected.type, I1])
        tail = f" {_scope(scope)}{ordering} {failure}"
        return self.builder.extract_value(
            self.builder.text(pair, "cmpxchg", (pointer, expected, desired), tail), 0
        )

    def fence(self, ordering: str, scope: str, address_spaces: tuple[str, ...] = ()) -> None:
        """Order memory accesses; with address spaces given, only accesses to those."""
        ordered = self._state.module.ordered
        is_cheap = scope == "workgroup" and not address_spaces and self._is_alone
        if is_cheap and ordered is not Ordered.ALL:
            address_spaces = ("local",)
        instruction = self.builder.text(VOID, f"fence {_scope(scope)}{ordering}")
        if address_spaces:
            # LLVM AMDGPU guide, "Memory Model Relaxation Annotations": an LDS fence waits for no
            # global access.
            tags = [
                self.builder.module.add_metadata(["amdgpu-synchronize-as", space])
                for space in address_spaces
            ]
            node = tags[0] if len(tags) == 1 else self.builder.module.add_metadata(tags)
            instruction.set_metadata("mmra", node)
        if is_cheap and ordered is Ordered.STORES and ordering not in ("acquire", "monotonic"):
            self.call("llvm.amdgcn.s.wait.storecnt", VOID, [literal(I16, 0)])

    @property
    def _is_alone(self) -> bool:
        """Whether this is one of the calls that `global_memory` takes for fences."""
        return isinstance(self._result_type, Void) and not self._types

    def implicit_argument(self, offset: int, bits: int) -> Any:
        """Return one of the launch's implicit arguments as an integer."""
        return implicit_argument(self.builder, self._options, offset, bits)

    def record_word(self, word: int) -> Any:
        """Return the address of a word of the launch's record."""
        return word_of_record(self._state, word)

    @property
    def has_faults(self) -> bool:
        """Whether the kernel may report a fault and stop."""
        reports = self._state.module.reports
        return reports is not None and bool(reports.faults)


def implicit_argument(builder: Builder, options: CompileOptions, offset: int, bits: int) -> Any:
    """Return an implicit argument; the workgroup's size is a constant if it is compiled in."""
    llvm = {8: I8, 16: I16, 32: I32, 64: I64}.get(bits)
    if llvm is None:
        raise InternalError(f"no implicit argument of {bits} bits")
    shape = options.required_workgroup_size
    if shape is not None and offset in _GROUP_SIZES:
        return literal(llvm, shape[_GROUP_SIZES[offset]])
    base = builder.invoke_name("llvm.amdgcn.implicitarg.ptr", CONSTANT_SPACE, [])
    address = builder.offset(base, literal(I64, offset)) if offset else base
    # Not more than the natural alignment, or LLVM would read 32 bits although gfx12 can read just
    # the 16.
    value = builder.read(llvm, address, bits // 8)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    if offset in _GROUP_SIZES:
        limits = [literal(llvm, 1), literal(llvm, options.max_workgroup_size + 1)]
        value.set_metadata("range", builder.module.add_metadata(limits))
        value.set_metadata("noundef", builder.module.add_metadata([]))
    return value


def _natural_alignment(type: Type) -> int:
    if not isinstance(type, (Scalar, Vector)):
        raise InternalError(f"no memory access to {type}")
    return min(type.nbytes & -type.nbytes, 16)


def _scope(scope: str) -> str:
    return f'syncscope("{scope}") ' if scope else ""
