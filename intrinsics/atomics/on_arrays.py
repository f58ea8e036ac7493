"""The atomic operations on an element of an array, given as a pointer into global memory or LDS.

Sources: LLVM language reference, `atomicrmw`, `cmpxchg`, `load atomic`, `store atomic`; RDNA4 ISA,
`global_atomic_*` and `ds_*_rtn_*`.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from amdjit.abi.reports import Word
from amdjit.declarations import Emit, EmitContext, InlineAsm, Intrinsic, intrinsic
from amdjit.intrinsics.type_variables import GLOBAL_AND_LDS
from amdjit.target import with_builtins_of
from amdjit.types import (
    VOID,
    Choice,
    PointerPattern,
    Scalar,
    Type,
    TypeVariable,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    vector,
)

# The memory orders and scopes that atomic operations and fences take.
#
# Source: LLVM AMDGPU guide, "Memory Scopes"; LLVM language reference, "Atomic Memory Ordering
# Constraints".

# LLVM's names of the public scopes: AMDGPU guide, "Memory Scopes".
SYNC_SCOPES = {"system": "", "agent": "agent", "workgroup": "workgroup", "wavefront": "wavefront"}


ORDERINGS = {
    "relaxed": "monotonic",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "seq_cst": "seq_cst",
}


Scope = Annotated[str, Choice(*SYNC_SCOPES)]


Order = Annotated[str, Choice(*ORDERINGS)]


# A read publishes nothing and a write acquires nothing: LLVM language reference, "load" and
# "store".
LoadOrder = Annotated[
    str, Choice(*(name for name in ORDERINGS if name not in ("release", "acq_rel")))
]


StoreOrder = Annotated[
    str, Choice(*(name for name in ORDERINGS if name not in ("acquire", "acq_rel")))
]


_atomic = partial(Emit, is_atomic=True)

# These instructions belong to gfx12; LLVM makes loops for other processors.
_GFX12 = with_builtins_of("gfx1200", "gfx1201")


NUMBER = TypeVariable("N", (i32, u32, i64, u64, f32, f64))


INTEGER = TypeVariable("I", (i32, u32, i64, u64))


UNSIGNED = TypeVariable("U", (u32, u64))


NUMBER_POINTER = PointerPattern(NUMBER, GLOBAL_AND_LDS)


INTEGER_POINTER = PointerPattern(INTEGER, GLOBAL_AND_LDS)


F16_PAIR, BF16_PAIR = vector(f16, 2), vector(bf16, 2)


F16_POINTER, BF16_POINTER = (
    PointerPattern(f16, GLOBAL_AND_LDS),
    PointerPattern(bf16, GLOBAL_AND_LDS),
)


WORD_POINTER = PointerPattern(u32, GLOBAL_AND_LDS)


UNSIGNED_POINTER = PointerPattern(UNSIGNED, GLOBAL_AND_LDS)


ELEMENT = TypeVariable("T", (i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64))


ELEMENT_POINTER = PointerPattern(ELEMENT, GLOBAL_AND_LDS)


def _emit_update(
    context: EmitContext,
    pointer: Any,
    value: Any,
    order: str,
    scope: str,
    *,
    signed: str,
    unsigned: str,
    float: str = "",
) -> Any:
    """Emit LLVM's `atomicrmw` with the operation for the value's kind of number."""
    type = context.types[1]
    if not isinstance(type, Scalar):
        raise TypeError(f"atomic operations are on scalars, not on {type}")
    operation = float if type.is_float else signed if type.is_signed else unsigned
    return context.atomic_update(operation, pointer, value, ORDERINGS[order], SYNC_SCOPES[scope])


def _update(signed: str, unsigned: str = "", float: str = "") -> Emit:
    return Emit(
        partial(_emit_update, signed=signed, unsigned=unsigned or signed, float=float),
        is_atomic=True,
    )


def _emit_compare_exchange(
    context: EmitContext, pointer: Any, expected: Any, desired: Any, order: str, scope: str
) -> Any:
    type = context.types[1]
    assert isinstance(type, Scalar)
    if not type.is_float:
        return context.atomic_compare_exchange(
            pointer, expected, desired, ORDERINGS[order], SYNC_SCOPES[scope]
        )
    word = context.llvm_type(i32 if type.bits == 32 else i64)
    old_bits, new_bits = context.bitcast(expected, word), context.bitcast(desired, word)
    old = context.atomic_compare_exchange(
        pointer, old_bits, new_bits, ORDERINGS[order], SYNC_SCOPES[scope]
    )
    return context.bitcast(old, context.llvm_type(type))


def _emit_load(context: EmitContext, pointer: Any, order: str, scope: str) -> Any:
    return context.atomic_load(context.result_type, pointer, ORDERINGS[order], SYNC_SCOPES[scope])


def _emit_store(context: EmitContext, pointer: Any, value: Any, order: str, scope: str) -> None:
    context.atomic_store(context.types[1], pointer, value, ORDERINGS[order], SYNC_SCOPES[scope])


@intrinsic(_atomic(_emit_load), isa="global_load", name="atomic.load")
def load(pointer: ELEMENT_POINTER, order: LoadOrder, scope: Scope) -> ELEMENT:
    """Read an element in one piece, as other waves wrote it (LLVM `load atomic`)."""


@intrinsic(_atomic(_emit_store), isa="global_store", name="atomic.store")
def store(pointer: ELEMENT_POINTER, value: ELEMENT, order: StoreOrder, scope: Scope) -> VOID:
    """Write an element in one piece, for other waves to read (LLVM `store atomic`)."""


def _emit_pair(context: EmitContext, pointer: Any, value: Any, order: str, scope: str) -> Any:
    return context.atomic_update("fadd", pointer, value, ORDERINGS[order], SYNC_SCOPES[scope])


@intrinsic(_atomic(_emit_pair), isa="global_atomic_pk_add_f16", name="atomic.add_pair")
def add_f16_pair(pointer: F16_POINTER, value: F16_PAIR, order: Order, scope: Scope) -> F16_PAIR:
    """Add to two neighbouring f16; return the old values (LLVM `atomicrmw fadd`)."""


@intrinsic(_atomic(_emit_pair), isa="global_atomic_pk_add_bf16", name="atomic.add_pair")
def add_bf16_pair(pointer: BF16_POINTER, value: BF16_PAIR, order: Order, scope: Scope) -> BF16_PAIR:
    """Add to two neighbouring bf16; return the old values (LLVM `atomicrmw fadd`)."""


def _declared(
    name: str, how: Emit, types: tuple[Type, Type], mnemonic: str | None, text: str
) -> Intrinsic:
    """Return an operation that takes one value. types: of the value, and of the pointer."""
    kind, pointer = types

    def function(pointer, value, order, scope):
        """Have no model on the host."""

    function.__module__, function.__name__, function.__qualname__ = __name__, name, name
    function.__doc__ = text
    function.__annotations__ = {
        "pointer": pointer,
        "value": kind,
        "order": Order,
        "scope": Scope,
        "return": kind,
    }
    isa = mnemonic and f"global_atomic_{mnemonic}"
    where: Any = _GFX12_ONLY if name in ("sub_clamp", "cond_sub") else {}
    return intrinsic(how, isa=isa, name=f"atomic.{name}", **where)(function)


_GFX12_ONLY = {"targets": _GFX12, "alternative": "atomic.cas in a loop"}
_NUMBERS, _INTEGERS = (NUMBER, NUMBER_POINTER), (INTEGER, INTEGER_POINTER)
_UNSIGNED, _WORDS = (UNSIGNED, UNSIGNED_POINTER), (u32, WORD_POINTER)
_OLD = "; return the old value (LLVM `atomicrmw`)."
_SATURATED = "; return the old value (LLVM `atomicrmw usub_sat`)."
_CONDITIONAL = "; return the old value (LLVM `atomicrmw usub_cond`)."
_ROWS: tuple[tuple[str, Emit, tuple[Type, Type], str | None, str], ...] = (
    ("add", _update("add", float="fadd"), _NUMBERS, "add", f"Add to an element{_OLD}"),
    ("sub", _update("sub", float="fsub"), _NUMBERS, None, f"Subtract from an element{_OLD}"),
    (
        "sub_clamp",
        _update("usub_sat"),
        _WORDS,
        "sub_clamp",
        f"Subtract, but not below 0{_SATURATED}",
    ),
    (
        "cond_sub",
        _update("usub_cond"),
        _WORDS,
        "cond_sub",
        f"Subtract where the element is at least the value{_CONDITIONAL}",
    ),
    (
        "min",
        _update("min", "umin", "fmin"),
        _NUMBERS,
        "min",
        f"Write the lesser of the element and the value{_OLD}",
    ),
    (
        "max",
        _update("max", "umax", "fmax"),
        _NUMBERS,
        "max",
        f"Write the greater of the element and the value{_OLD}",
    ),
    (
        "and_",
        _update("and"),
        _INTEGERS,
        "and",
        f"Clear the element's bits that are 0 in the value{_OLD}",
    ),
    (
        "or_",
        _update("or"),
        _INTEGERS,
        "or",
        f"Set the element's bits that are 1 in the value{_OLD}",
    ),
    (
        "xor",
        _update("xor"),
        _INTEGERS,
        "xor",
        f"Flip the element's bits that are 1 in the value{_OLD}",
    ),
    (
        "exch",
        _update("xchg", float="xchg"),
        _NUMBERS,
        "swap",
        "Write the value; return the old one (LLVM `atomicrmw`).",
    ),
    (
        "inc",
        _update("uinc_wrap"),
        _UNSIGNED,
        "inc",
        f"Add 1, or write 0 if the element is at or above the value{_OLD}",
    ),
    (
        "dec",
        _update("udec_wrap"),
        _UNSIGNED,
        "dec",
        f"Subtract 1, or write the value if the element is 0 or above it{_OLD}",
    ),
)
UPDATES = {row[0]: _declared(*row) for row in _ROWS}
globals().update(UPDATES)


@intrinsic(_atomic(_emit_compare_exchange), isa="global_atomic_cmpswap", name="atomic.cas")
def cas(
    pointer: NUMBER_POINTER, expected: NUMBER, desired: NUMBER, order: Order, scope: Scope
) -> NUMBER:
    """Write `desired` if the element is `expected`; return the old value in any case (LLVM
    `cmpxchg`)."""


# The words of a launch's record by which the workgroups of a cooperative launch meet
# (`amdjit.abi.reports`).
#
# The barrier of the whole grid is amdjit's own, since ROCm's is in its device libraries. The last
# workgroup to arrive sets the count back before it begins the next round, so the words are as good
# as new after each round.


def _emit_round(context: EmitContext) -> Any:
    return context.atomic_load(i32, context.record_word(Word.ROUND), "monotonic", "agent")


def _emit_meeting(context: EmitContext) -> Any:
    one = context.constant(i32, 1)
    return context.atomic_update("add", context.record_word(Word.ARRIVED), one, "acq_rel", "agent")


def _emit_next_round(context: EmitContext, round: Any) -> None:
    arrived = context.record_word(Word.ARRIVED)
    context.atomic_store(i32, arrived, context.constant(i32, 0), "monotonic", "agent")
    context.atomic_store(i32, context.record_word(Word.ROUND), round, "release", "agent")


def _emit_has_failed(context: EmitContext) -> Any:
    none = context.constant(i32, 0)
    if not context.has_faults:
        return context.builder.icmp_unsigned("!=", none, none)
    claimed = context.atomic_load(i32, context.record_word(Word.CLAIMED), "monotonic", "agent")
    return context.builder.icmp_unsigned("!=", claimed, none)


@intrinsic(Emit(_emit_round), meets=True)
def round_of_grid() -> i32:
    """Return how often the grid's barrier has let all workgroups go on."""


@intrinsic(Emit(_emit_meeting), meets=True)
def arrive() -> i32:
    """Count a workgroup at the grid's barrier; return how many came before."""


@intrinsic(Emit(_emit_next_round), meets=True)
def begin_round(round: i32) -> VOID:
    """Let all workgroups go on."""


@intrinsic(Emit(_emit_has_failed), meets=True)
def has_failed() -> boolean:
    """Return whether a work-item of the grid has reported a fault."""


@intrinsic(InlineAsm("s_endpgm", "", side_effects=True), isa="s_endpgm")
def end_wave() -> VOID:
    """End the wave."""
