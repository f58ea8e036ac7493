"""Loops, in the forms that LLVM's loop passes recognise.

before: `for i: i32 in range(i32(0), n, i32(1)): ...`
after:  `icmp slt i32 0, %n`, a block with `%i = phi i32`, and `add nsw` before the branch back

A range loop is exact for all bounds, even if the next value would leave the variable's type: it
continues only if another step stays before `stop`. Its increment therefore never wraps, so LLVM can
count the iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.abi import result_type
from amdjit.lowering.builder import Builder, LoopMetadata
from amdjit.lowering.state import FunctionState, Loop
from amdjit.lowering.types import I8, I16, I32, VOID, constant_value, literal, undefined
from amdjit.tree.nodes import Variable
from amdjit.types import Scalar

__all__ = ["range_loop", "return_values", "while_loop"]

Part = Callable[[], None]
# How lanes leave an iteration.
_STAY, _BREAK, _RETURN = range(3)


def while_loop(
    state: FunctionState,
    condition: Callable[[], Any],
    body: Part,
    otherwise: Part,
    unroll: int,
    is_unconditional: bool = False,
    is_endless: bool = False,
) -> None:
    """Lower a while loop. is_unconditional: the condition is True; is_endless: nothing leaves the
    loop."""
    builder = state.builder
    line = builder.debug_metadata
    header, inside, following, done, after = (
        builder.append_basic_block(name) for name in ("while", "round", "next", "done", "after")
    )
    builder.branch(header)
    builder.position_at_end(header)
    if is_unconditional:
        # If the body begins with a branch that is the same in every iteration (lane 0 fetches work
        # for all), SimplifyCFG would lead the other lanes past the loop's header into a loop of
        # their own: they would meet at barriers and `readfirstlane` without lane 0, forever. It
        # does not thread a path through this call, which emits no code.
        builder.invoke_name("llvm.amdgcn.wave.barrier", VOID, [])
    state.depth += 1
    builder.cbranch(condition(), inside, done)
    state.depth -= 1
    loop = _body(state, inside, Loop(next_iteration=following, after=after), body)
    # The branch back has the loop's line, not that of the last statement: an endless loop may have
    # no other code.
    builder.debug_metadata = line
    keeps = _end_iteration(state, loop)
    if is_endless:
        # LLVM's branch of an endless loop has no line (AMDGPUUnifyDivergentExitNodes); this
        # instruction has one.
        builder.invoke_name("llvm.amdgcn.s.nop", VOID, [literal(I16, 0)])
    _mark(builder, builder.branch(header), 1 if keeps else unroll)
    _leave(state, done, after, otherwise)


def range_loop(
    state: FunctionState,
    variable: Variable,
    limits: tuple[Any, Any, Any],
    body: Part,
    otherwise: Part,
    unroll: int,
) -> None:
    """Lower a loop over range(*limits); the three limits have the variable's type."""
    scalar, builder = variable.type, state.builder
    if not isinstance(scalar, Scalar) or not scalar.is_integer:
        raise InternalError(f"a range of {scalar}")
    start, line = limits[0], builder.debug_metadata
    bounds = _Bounds(builder, scalar, *limits)
    inside, following, done, after = (
        builder.append_basic_block(name) for name in ("round", "next", "done", "after")
    )
    before = builder.block
    builder.cbranch(bounds.enter(), inside, done)
    builder.position_at_end(inside)
    value = builder.phi(start.type)
    value.add_incoming(start, before)
    state.assign(variable, value)
    loop = _body(state, inside, Loop(next_iteration=following, after=after), body)
    builder.debug_metadata = line
    is_counted = all(constant_value(limit) is not None for limit in limits)
    keeps = _end_iteration(state, loop, is_counted)
    increased = bounds.increase(value)
    value.add_incoming(increased, builder.block)
    again = builder.cbranch(bounds.goes_on(value, increased), inside, done)
    # LLVM's unroller also moves the last iteration after the loop.
    _mark(builder, again, 1 if keeps else unroll)
    _leave(state, done, after, otherwise)


class _Bounds:
    """The tests of one range loop. forward: whether the step is positive, None if that is known
    only at run time."""

    def __init__(self, builder: Builder, scalar: Scalar, start: Any, stop: Any, step: Any) -> None:
        self._builder = builder
        self._scalar = scalar
        self._start, self._stop, self._step = start, stop, step
        known = self._known(step)
        self._forward = (known > 0 if known is not None else None) if scalar.is_signed else True
        self._cannot_wrap = known is not None and self._stays_inside(known)
        if self._forward is None:
            self._is_forward = builder.icmp_signed(">", step, literal(step.type, 0))
        if not self._cannot_wrap:
            self._limit = self._before_last(step)

    def _before_last(self, step: Any) -> Any:
        """Return the bound of the values that have an iteration after them.

        The loop continues if value + step < stop, that is, if value < stop - step. If that
        difference would leave the type, the bound is the end of the type, and no value is beyond
        it.
        """
        builder, scalar = self._builder, self._scalar
        flags = ("nsw" if scalar.is_signed else "nuw",)
        if not scalar.is_signed:
            return builder.operation(
                "sub", builder.intrinsic("llvm.umax", self._stop, step), step, flags
            )
        least = builder.add(step, literal(step.type, scalar.minimum))
        most = builder.add(step, literal(step.type, scalar.maximum))
        upward, downward = ("llvm.smax", least), ("llvm.smin", most)
        if self._forward is not None:
            name, nearest = upward if self._forward else downward
            return builder.operation(
                "sub", builder.intrinsic(name, self._stop, nearest), step, flags
            )
        kept = [
            builder.intrinsic(name, self._stop, nearest) for name, nearest in (upward, downward)
        ]
        return builder.operation("sub", builder.select(self._is_forward, *kept), step, flags)

    def enter(self) -> Any:
        """Return whether there is a first iteration. With a step of 0 there is none, since there
        would be no last one."""
        some = self._before(self._start, self._stop)
        if self._known(self._step) is not None:
            return some
        return self._builder.and_(
            some, self._builder.icmp_unsigned("!=", self._step, literal(self._step.type, 0))
        )

    def increase(self, value: Any) -> Any:
        """Return the next value, which is not used if it wraps."""
        return self._builder.operation(
            "add", value, self._step, ("nsw" if self._scalar.is_signed else "nuw",)
        )

    def goes_on(self, value: Any, increased: Any) -> Any:
        """Return whether there is an iteration after that of `value`."""
        if self._cannot_wrap:
            return self._before(increased, self._stop)
        return self._before(value, self._limit)

    def _known(self, value: Any) -> int | None:
        """Return the number of a constant bound, read as signed if the variable is."""
        number = constant_value(value)
        return number if number is None or self._scalar.is_signed else number & self._scalar.maximum

    def _stays_inside(self, step: int) -> bool:
        """Whether every value before `stop`, plus the step, certainly stays in the type."""
        if abs(step) == 1:
            return True
        stop = self._known(self._stop)
        if stop is None:
            return False
        farthest = stop + step - (1 if step > 0 else -1)
        return self._scalar.minimum <= farthest <= self._scalar.maximum

    def _before(self, left: Any, right: Any) -> Any:
        builder = self._builder
        if not self._scalar.is_signed:
            return builder.icmp_unsigned("<", left, right)
        if self._forward is not None:
            return builder.icmp_signed("<" if self._forward else ">", left, right)
        below, above = builder.icmp_signed("<", left, right), builder.icmp_signed(">", left, right)
        return builder.select(self._is_forward, below, above)


def return_values(state: FunctionState, values: Sequence[Any]) -> None:
    """Leave the function, with the LLVM values that its result consists of."""
    builder = state.builder
    if state.loops:
        state.loops[-1].returns.append((builder.block, list(values)))
    if not values:
        builder.ret_void()
    elif len(values) == 1:
        builder.ret(values[0])
    else:
        result = undefined(result_type(state.function.result))
        for number, value in enumerate(values):
            result = builder.insert_value(result, value, number)
        builder.ret(result)


def _body(state: FunctionState, inside: Any, loop: Loop, body: Part) -> Loop:
    state.builder.position_at_end(inside)
    state.loops.append(loop)
    body()
    state.loops.pop()
    if not state.builder.block.is_terminated:
        state.builder.branch(loop.next_iteration)
    return loop


def _end_iteration(state: FunctionState, loop: Loop, is_counted: bool = False) -> bool:
    """Build the end of a loop's body, where lanes that go on to the next iteration are. Return
    whether it keeps operations across lanes in their iteration.

    is_counted: all lanes have the same number of iterations, unless they leave.

    LLVM's loop is what leads back to its beginning. A branch that ends with `break` is behind the
    loop: lanes come to it once all of them have left, whatever their iteration was, and an
    operation across lanes would combine them all. So where a branch has such an operation, the
    lanes that leave come to the end of the body as well, and leave from there. LLVM would lead
    them past it, as it would where it sees that a branch's condition is that of leaving; it does
    not thread a path through a call of `wave.barrier`, which emits no code.
    """
    builder, following = state.builder, loop.next_iteration
    if not loop.ends(builder.crossings):
        if state.loops:
            state.loops[-1].returns += loop.returns
        builder.position_at_end(following)
        return False
    staying = [block for block in builder.function.blocks if _goes_to(block, following)]
    leaving = [(block, _BREAK) for block in loop.breaks]
    leaving += [(block, _RETURN) for block, _ in loop.returns]
    for block, values in [*((block, []) for block in loop.breaks), *loop.returns]:
        _redirect(state, block, following, values)
    builder.position_at_end(following)
    if leaving:
        way = builder.phi(I8)
        for block, number in [*((block, _STAY) for block in staying), *leaving]:
            way.add_incoming(literal(I8, number), block)
    if leaving or not is_counted:
        builder.invoke_name("llvm.amdgcn.wave.barrier", VOID, [])
    if leaving:
        _leave_by(state, loop, way)
    return bool(leaving) or not is_counted


def _goes_to(block: Any, target: Any) -> bool:
    return block.terminator is not None and target in block.terminator.operands


def _redirect(state: FunctionState, block: Any, target: Any, values: Sequence[Any]) -> None:
    """Let a block that leaves the loop, or the function with values, go to the target."""
    builder = state.builder
    line, ended = builder.debug_metadata, block.terminator
    builder.position_at_end(block)
    builder.remove(ended)
    builder.debug_metadata = ended.metadata.get("dbg")
    if values and not state.returned:
        state.returned += [(each.type, builder.allocate(each.type)) for each in values]
    for (_, slot), value in zip(state.returned, values, strict=False):
        builder.write(slot, value)
    builder.branch(target)
    builder.debug_metadata = line


def _leave_by(state: FunctionState, loop: Loop, way: Any) -> None:
    """Build the ways out of an iteration: one stays in the loop, and is built next."""
    builder = state.builder
    stay, leave = builder.append_basic_block("stay"), builder.append_basic_block("leave")
    builder.cbranch(builder.is_zero(way), stay, leave)
    builder.position_at_end(leave)
    if loop.breaks and loop.returns:
        returning = builder.append_basic_block("return")
        goes = builder.icmp_unsigned("==", way, literal(I8, _BREAK))
        builder.cbranch(goes, loop.after, returning)
        builder.position_at_end(returning)
    elif loop.breaks:
        builder.branch(loop.after)
    if loop.returns:
        return_values(state, [builder.read(llvm, slot) for llvm, slot in state.returned])
    builder.position_at_end(stay)


def _leave(state: FunctionState, done: Any, after: Any, otherwise: Part) -> None:
    """Lower the loop's `else`, which a break skips."""
    builder = state.builder
    builder.position_at_end(done)
    with state.branch():
        otherwise()
    if not builder.block.is_terminated:
        builder.branch(after)
    builder.position_at_end(after)


def _mark(builder: Builder, branch: Any, unroll: int) -> None:
    """Add the metadata for unrolling (LLVM language reference, "llvm.loop.unroll")."""
    if unroll == 0:
        return
    module = builder.module
    if unroll == 1:
        hint = module.add_metadata(["llvm.loop.unroll.disable"])
    elif unroll < 0:
        hint = module.add_metadata(["llvm.loop.unroll.full"])
    else:
        hint = module.add_metadata(["llvm.loop.unroll.count", literal(I32, unroll)])
    branch.set_metadata("llvm.loop", LoopMetadata(module, [hint], str(len(module.metadata))))
