"""Reports of a kernel to the host: code that writes to the record whose layout is in
`amdjit.abi.reports`.

before: `fault 3: i, n`
after:  `atomicrmw xchg` to claim the record, stores of number, place and values, `s_endpgm`

A failing work-item claims the record, writes what failed and where, and ends its wave. It ends with
inline assembly, not with `llvm.amdgcn.endpgm`: after the latter LLVM sees no path, makes it an exit
of every loop around it, and turns these loops into divergent ones, in which all other lanes run to
the end of the loop before anything is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from amdjit.abi.reports import HEAD_BYTES, LINE_HEAD_WORDS, Word
from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.abi import ArrayValue
from amdjit.lowering.builder import TextAttributes
from amdjit.lowering.conversions import bitcast, resize
from amdjit.lowering.state import FunctionState
from amdjit.lowering.types import I1, I32, I64, VOID, constant_value, literal
from amdjit.types import Scalar, Type, boolean, i64

__all__ = ["calls_to_callee", "check_index", "fault", "print_line", "word_of_record"]

# LLVM AMDGPU guide, "Memory Scopes": agent is the whole device.
_ATOMIC = ' syncscope("agent") monotonic'
# LLVM language reference, "branch_weights": a failure almost never happens.
_RARE = (1, 2000)


def fault(state: FunctionState, number: int, values: Sequence[tuple[Any, Type]]) -> None:
    """Report a fault of the table (-1: none) and end the wave. As far as LLVM knows, control
    continues after it."""
    builder = state.builder
    if number >= 0:
        old = builder.text(
            I32, "atomicrmw xchg", (word_of_record(state, Word.CLAIMED), literal(I32, 1)), _ATOMIC
        )
        claim, end = builder.append_basic_block("claim"), builder.append_basic_block("end")
        builder.cbranch(builder.is_zero(old), claim, end)
        builder.position_at_end(claim)
        _write(state, Word.SITE, [literal(I32, number), *_block(state), *_thread(state)])
        if state.calls is not None and constant_value(state.calls) != 0:
            _write(state, Word.CALLS, _words(state, state.calls, i64))
        _write(
            state,
            Word.VALUES,
            [word for value, type in values for word in _words(state, value, type)],
        )
        builder.branch(end)
        builder.position_at_end(end)
    # RDNA4 ISA, "S_ENDPGM": the wave ends regardless of EXEC; barriers count the remaining waves.
    # It touches no memory that LLVM knows of, so values that were loaded before need not be loaded
    # again after it.
    ended = builder.asm(ir.FunctionType(VOID, []), "s_endpgm", "", [], True)
    ended.attributes = TextAttributes(["nounwind", "memory(inaccessiblemem: readwrite)"])


def check_index(
    state: FunctionState,
    check: int,
    array: ArrayValue,
    indices: Sequence[tuple[Any, Scalar]],
    width: int,
) -> None:
    """Report a fault unless every index is in 0..extent-1, the last one together with the elements
    after it."""
    builder = state.builder
    inside: Any = None
    for axis, (value, scalar) in enumerate(indices):
        extent = array.extents[axis]
        wide = I64 if I64 in (value.type, extent.type) else I32
        index = resize(builder, value, scalar, wide)
        limit = resize(builder, extent, array.type.index_type, wide)
        if width > 1 and axis == len(indices) - 1:
            limit = _less(state, limit, width - 1)
        fits = builder.icmp_unsigned("<", index, limit)
        inside = fits if inside is None else builder.and_(inside, fits)
    failed, after = builder.append_basic_block("outside"), builder.append_basic_block("inside")
    branch = builder.cbranch(inside, after, failed)
    branch.set_weights(tuple(reversed(_RARE)))
    builder.position_at_end(failed)
    extents = [(extent, array.type.index_type) for extent in array.extents]
    fault(state, check - 1, [*indices, *extents])
    builder.branch(after)
    builder.position_at_end(after)


def _less(state: FunctionState, extent: Any, number: int) -> Any:
    """Subtract, with 0 as the minimum: an array that is too short holds no wide element."""
    return state.builder.intrinsic("llvm.usub.sat", extent, literal(extent.type, number))


def print_line(state: FunctionState, number: int, values: Sequence[tuple[Any, Type]]) -> None:
    """Report a line: the wave reserves room for all of its lanes at once, and they fill it in
    order."""
    builder = state.builder
    words = [word for value, type in values for word in _words(state, value, type)]
    size = 4 * (LINE_HEAD_WORDS + len(words))
    rank, lanes = _lanes(state)
    nbytes = builder.zext(builder.mul(lanes, literal(I32, size)), I64)
    base = _take(state, rank, nbytes)
    capacity = builder.read(I64, word_of_record(state, Word.CAPACITY), 8)
    capacity.set_metadata("invariant.load", builder.module.add_metadata([]))
    fits = builder.icmp_unsigned("<=", builder.add(base, nbytes), capacity)
    write, lost, after = (builder.append_basic_block(name) for name in ("write", "lost", "printed"))
    builder.cbranch(fits, write, lost)
    builder.position_at_end(write)
    place = builder.add(base, builder.zext(builder.mul(rank, literal(I32, size)), I64))
    line = builder.offset(builder.offset(state.record, literal(I64, HEAD_BYTES)), place)
    _write_at(state, line, [literal(I32, number), *_block(state), _packed_thread(state), *words])
    builder.branch(after)
    builder.position_at_end(lost)
    builder.text(I64, "atomicrmw umin", (word_of_record(state, Word.END), base), _ATOMIC)
    builder.text(I32, "atomicrmw add", (word_of_record(state, Word.LOST), literal(I32, 1)), _ATOMIC)
    builder.branch(after)
    builder.position_at_end(after)


def _lanes(state: FunctionState) -> tuple[Any, Any]:
    """Return the number of active lanes before this one, and the number of all active lanes."""
    builder, is_wide = state.builder, state.module.options.wave_size == 64
    word = I64 if is_wide else I32
    mask = builder.invoke_name(f"llvm.amdgcn.ballot.i{word.width}", word, [literal(I1, True)])
    low = builder.trunc(mask, I32) if is_wide else mask
    rank = builder.invoke_name("llvm.amdgcn.mbcnt.lo", I32, [low, literal(I32, 0)])
    if is_wide:
        high = builder.trunc(builder.lshr(mask, literal(I64, 32)), I32)
        rank = builder.invoke_name("llvm.amdgcn.mbcnt.hi", I32, [high, rank])
    count = builder.invoke_name(f"llvm.ctpop.i{word.width}", word, [mask])
    return rank, builder.trunc(count, I32) if is_wide else count


def _take(state: FunctionState, rank: Any, nbytes: Any) -> Any:
    """Advance the cursor once for the wave; return its old value in all lanes."""
    builder = state.builder
    first, after, before = (
        builder.append_basic_block("first"),
        builder.append_basic_block("taken"),
        builder.block,
    )
    builder.cbranch(builder.is_zero(rank), first, after)
    builder.position_at_end(first)
    old = builder.text(I64, "atomicrmw add", (word_of_record(state, Word.CURSOR), nbytes), _ATOMIC)
    builder.branch(after)
    builder.position_at_end(after)
    phi = builder.phi(I64)
    phi.add_incoming(literal(I64, 0), before)
    phi.add_incoming(old, first)
    return builder.invoke_name("llvm.amdgcn.readfirstlane.i64", I64, [phi])


def calls_to_callee(state: FunctionState, site: int) -> Any:
    """Return the calls that lead to a called function: those that lead to this function, and the
    call itself."""
    reports = state.module.reports
    if reports is None or state.calls is None:
        return None
    shifted = state.builder.mul(state.calls, literal(I64, reports.base))
    return state.builder.add(shifted, literal(I64, site))


def word_of_record(state: FunctionState, word: int) -> Any:
    """Return the address of a word of the launch's record."""
    if state.record is None:
        raise InternalError(f"{state.function.name} reports, but has no record")
    return state.builder.offset(state.record, literal(I64, 4 * word)) if word else state.record


def _write(state: FunctionState, first: int, words: Sequence[Any]) -> None:
    if words:
        _write_at(state, word_of_record(state, first), words)


def _write_at(state: FunctionState, pointer: Any, words: Sequence[Any]) -> None:
    for position, word in enumerate(words):
        place = state.builder.offset(pointer, literal(I64, 4 * position)) if position else pointer
        state.builder.write(place, word, 4)


def _words(state: FunctionState, value: Any, type: Type) -> list[Any]:
    """Return a value's bits in words of 32 bits, the lowest word first."""
    builder = state.builder
    if not isinstance(type, Scalar):
        raise InternalError(f"a report of {type}")
    integer = ir.IntType(1 if type is boolean else type.bits)
    bits = value if value.type == integer else bitcast(builder, value, integer)
    if integer.width == 64:
        return [builder.trunc(bits, I32), builder.trunc(builder.lshr(bits, literal(I64, 32)), I32)]
    return [bits if integer.width == 32 else builder.zext(bits, I32)]


def _block(state: FunctionState) -> list[Any]:
    return [
        state.builder.invoke_name(f"llvm.amdgcn.workgroup.id.{axis}", I32, []) for axis in "xyz"
    ]


def _thread(state: FunctionState) -> list[Any]:
    shape = state.module.options.required_workgroup_size or (0, 0, 0)
    return [
        literal(I32, 0)
        if extent == 1
        else state.builder.invoke_name(f"llvm.amdgcn.workitem.id.{axis}", I32, [])
        for axis, extent in zip("xyz", shape, strict=True)
    ]


def _packed_thread(state: FunctionState) -> Any:
    x, y, z = _thread(state)
    builder = state.builder
    return builder.or_(
        builder.or_(x, builder.shl(y, literal(I32, 10))), builder.shl(z, literal(I32, 20))
    )
