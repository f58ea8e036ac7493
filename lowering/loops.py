"""Loops, in the forms that LLVM's loop passes recognise.

before: `for i: i32 in range(i32(0), n, i32(1)): ...`
after:  `icmp slt i32 0, %n`, a block with `%i = phi i32`, and `add nsw` before the branch back

A range loop is exact for all bounds, even if the next value would leave the variable's type: it
continues only if another step stays before `stop`. Its increment therefore never wraps, so LLVM can
count the iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amdjit.diagnostics.errors import InternalError
from amdjit.lowering.builder import Builder, LoopMetadata
from amdjit.lowering.state import FunctionState, Loop
from amdjit.lowering.types import I16, I32, VOID, constant_value, literal
from amdjit.tree.nodes import Variable
from amdjit.types import Scalar

__all__ = ["range_loop", "while_loop"]

Part = Callable[[], None]


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
    builder.cbranch(condition(), inside, done)
    _body(state, inside, Loop(following, after), body)
    builder.position_at_end(following)
    # The branch back has the loop's line, not that of the last statement: an endless loop may have
    # no other code.
    builder.debug_metadata = line
    if is_endless:
        # LLVM's branch of an endless loop has no line (AMDGPUUnifyDivergentExitNodes); this
        # instruction has one.
        builder.invoke_name("llvm.amdgcn.s.nop", VOID, [literal(I16, 0)])
    _mark(builder, builder.branch(header), unroll)
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
    _body(state, inside, Loop(following, after), body)
    builder.position_at_end(following)
    builder.debug_metadata = line
    increased = bounds.increase(value)
    again = builder.cbranch(bounds.goes_on(value, increased), inside, done)
    _mark(builder, again, unroll)
    value.add_incoming(increased, following)
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


def _body(state: FunctionState, inside: Any, loop: Loop, body: Part) -> None:
    state.builder.position_at_end(inside)
    state.loops.append(loop)
    body()
    state.loops.pop()
    if not state.builder.block.is_terminated:
        state.builder.branch(loop.next_iteration)


def _leave(state: FunctionState, done: Any, after: Any, otherwise: Part) -> None:
    """Lower the loop's `else`, which a break skips."""
    builder = state.builder
    builder.position_at_end(done)
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
