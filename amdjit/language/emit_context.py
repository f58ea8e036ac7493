"""What a lowering that is a function gets to build LLVM IR with."""

from __future__ import annotations

from typing import Any, Protocol

from amdjit.language.type_base import Type
from amdjit.target import Target

__all__ = ["EmitContext"]


class EmitContext(Protocol):
    """What an `Emit` function gets: llvmlite's IR builder and helpers of the lowering."""

    builder: Any

    def llvm_type(self, type: Type) -> Any:
        """Return the llvmlite type of a kernel-language type."""
        ...

    def constant(self, type: Type, value: Any) -> Any:
        """Return an llvmlite constant."""
        ...

    def call(self, name: str, result: Any, arguments: list[Any]) -> Any:
        """Call the LLVM function `name` with llvmlite values; it is declared if it is not yet."""
        ...

    def call_structure(self, name: str, parts: tuple[Any, ...], arguments: list[Any]) -> list[Any]:
        """Call an LLVM function that returns a structure of these llvmlite types; return the
        parts."""
        ...

    def undefined(self, type: Type) -> Any:
        """Return a value that may be anything."""
        ...

    def opaque(self, value: Any) -> Any:
        """Return an integer as one that LLVM's passes know nothing of; it costs no instruction."""
        ...

    def generic(self, pointer: Any) -> Any:
        """Return a pointer as a generic (flat) one."""
        ...

    def text_operand(self, text: str) -> Any:
        """Return a text as a metadata operand."""
        ...

    def bitcast(self, value: Any, llvm_type: Any) -> Any:
        """Return the same bits as another llvmlite type of the same size (scalars, vectors,
        pointers)."""
        ...

    def load(
        self,
        type: Type,
        pointer: Any,
        alignment: int = 0,
        volatile: bool = False,
        policy: str = "temporal",
    ) -> Any:
        """Return the scalar or vector at an LLVM pointer.

        alignment: in bytes, 0 for that of the type.

        policy: temporal, non_temporal (the caches may forget it first) or, for loads, last_use.
        """
        ...

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
        ...

    def atomic_load(self, type: Type, pointer: Any, ordering: str, scope: str) -> Any:
        """Return the scalar at a pointer, read atomically; ordering "monotonic", "acquire" or
        "seq_cst"."""
        ...

    def atomic_store(self, type: Type, pointer: Any, value: Any, ordering: str, scope: str) -> None:
        """Write a scalar atomically; ordering "monotonic", "release" or "seq_cst"."""
        ...

    def atomic_update(
        self, operation: str, pointer: Any, value: Any, ordering: str, scope: str
    ) -> Any:
        """Do LLVM's `atomicrmw operation`, such as "add", "umax" or "xchg"; return the old value.

        scope: LLVM's sync scope (AMDGPU guide, "Memory Scopes"): "" (system), "agent", "workgroup",
        "wavefront", "singlethread", or one of them with "-one-as". ordering: "monotonic",
        "acquire", "release", "acq_rel", "seq_cst".
        """
        ...

    def atomic_compare_exchange(
        self, pointer: Any, expected: Any, desired: Any, ordering: str, scope: str
    ) -> Any:
        """Write `desired` if the integer at the pointer is `expected`; return the old value."""
        ...

    def fence(self, ordering: str, scope: str, address_spaces: tuple[str, ...] = ()) -> None:
        """Order memory accesses: "acquire", "release", "acq_rel" or "seq_cst".

        address_spaces: those that the fence orders, "global" and "local" (LDS); () for all.
        """
        ...

    def implicit_argument(self, offset: int, bits: int) -> Any:
        """Return an integer of the implicit arguments (LLVM AMDGPU guide, "Code Object V5
        Metadata").

        offset: in bytes from `llvm.amdgcn.implicitarg.ptr`: 0, 4, 8 hidden_block_count_x/y/z (32
        bits), 12, 14, 16 hidden_group_size_x/y/z (16 bits), 18, 20, 22 hidden_remainder_x/y/z (16),
        64 hidden_grid_dims (16), 120 hidden_dynamic_lds_size (32).
        """
        ...

    def record_word(self, word: int) -> Any:
        """Return the address of a 32-bit word of the launch's record (`amdjit.abi.reports.Word`).

        Only intrinsics that are declared with `meets=True` may ask for it.
        """
        ...

    @property
    def has_all_lanes(self) -> bool:
        """Whether all lanes of the wave are certainly on where this call is."""
        ...

    @property
    def has_faults(self) -> bool:
        """Whether the kernel may report a fault, after which its waves should end."""
        ...

    @property
    def types(self) -> tuple[Type, ...]:
        """The kernel-language types of the arguments (immediates excluded)."""
        ...

    @property
    def result_type(self) -> Type:
        """The kernel-language type of the result."""
        ...

    @property
    def target(self) -> Target:
        """The processor that this compilation is for."""
        ...

    @property
    def wavefront_size(self) -> int:
        """Lanes of a wave in this compilation."""
        ...

    @property
    def block(self) -> tuple[int, int, int] | None:
        """The workgroup's shape if it is compiled in, else None."""
        ...
