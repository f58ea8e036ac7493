"""Ways in which a chip could differ from the emulator, as changes of the emulator of this process.

`altered_device.py` makes them before the device is made, with its caches off. Each changes one
thing, which a run of the probe must find and name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import standin

from amdjit.emulator.host.builder import LANES, Builder, Value
from amdjit.emulator.instructions import tables
from amdjit.emulator.instructions.lanes import dpp
from amdjit.emulator.instructions.operation import Emitter, VectorOp
from amdjit.emulator.wave.frame import Frame
from amdjit.isa.instruction import Instruction, Register
from amdjit.isa.integer_expressions import Expression
from amdjit.isa.register_numbers import vector_number

_BITS = {"float": "i32", "half": "i16", "double": "i64"}
# Exists once a kernel has hung: then no kernel ends any more.
HUNG = "PROBE_TESTS_HUNG"


def _change(operation: str, change: Callable[[Emitter], Emitter]) -> None:
    """Replace an operation's emitter in the tables of all families that have it."""
    for table in tables._TABLES.values():
        assert isinstance(table, dict)
        if operation in table:
            table[operation] = change(table[operation])


def _of_expression(change: Callable[[Expression], Expression]) -> Callable[[Emitter], Emitter]:
    def changed(row: Emitter) -> Emitter:
        assert isinstance(row, VectorOp)
        return VectorOp(change(row.expression), row.clamped, row.scaled, row.unquieted)

    return changed


def _toward_zero(inner: Expression) -> Expression:
    """Round a sum of f32 toward zero: what was rounded away from zero becomes one ulp less."""

    def expression(b: Builder, *operands: Value) -> Value:
        rounded = inner(b, *operands)
        wide = b.binary("fadd", *(b.convert("fpext", v, "double") for v in operands))
        size = b.intrinsic("fabs", b.convert("fpext", rounded, "double"))
        is_outward = b.compare("ogt", size, b.intrinsic("fabs", wide))
        bits = b.bitcast(rounded, "i32")
        less = b.bitcast(b.sub(bits, b.const(bits, 1)), "float")
        return b.select(is_outward, less, rounded)

    return expression


def _without_denormals(inner: Expression) -> Expression:
    """Return zero instead of a denormal of f32."""

    def expression(b: Builder, *operands: Value) -> Value:
        result = inner(b, *operands)
        bits = b.bitcast(result, "i32")
        exponent = b.and_(bits, b.const(bits, 0x7F800000))
        zero = b.bitcast(b.and_(bits, b.const(bits, -0x80000000)), "float")
        return b.select(b.compare("eq", exponent, b.const(bits, 0)), zero, result)

    return expression


def _last_bit(inner: Expression) -> Expression:
    """Flip the last bit of results whose eighth bit is set, but not of infinities and NaNs."""

    def expression(b: Builder, *operands: Value) -> Value:
        result = inner(b, *operands)
        bits = b.bitcast(result, "i32")
        exponent = b.and_(bits, b.const(bits, 0x7F800000))
        is_finite = b.compare("ne", exponent, b.const(bits, 0x7F800000))
        last = b.mask(b.shift("lshr", bits, 8), 1)
        return b.select(is_finite, b.bitcast(b.xor(bits, last), "float"), result)

    return expression


def _one_more(inner: Expression) -> Expression:
    def expression(b: Builder, *operands: Value) -> Value:
        result = inner(b, *operands)
        return b.add(result, b.const(result, 1))

    return expression


def _swapped_result_lanes(row: Emitter) -> Emitter:
    """Swap lanes 4 and 5 of the first register of a result."""
    order = [*range(4), 5, 4, *range(6, LANES)]

    def emit(frame: Frame, instruction: Instruction) -> None:
        row(frame, instruction)
        target = instruction.operands[0]
        assert isinstance(target, Register)
        value = frame.registers.vector(vector_number(target))
        frame.registers.write_vector(
            vector_number(target), frame.builder.shuffle(value, value, order)
        )

    return emit


def swap_dpp_lanes() -> None:
    """Let lanes 3 and 5 of each row take each other's value under ROW_SHR:1."""
    source_lane = dpp.source_lane

    def swapped(control: int, lane: int) -> int | None:
        if control == 0x111 and lane & 15 in (3, 5):
            return source_lane(control, lane ^ 6)
        return source_lane(control, lane)

    dpp.source_lane = swapped


def add_one_by_one() -> None:
    """Add the products of matrix instructions one after the other in f32."""
    os.environ["AMDJIT_EMULATOR_MATRIX"] = "fma"


def _on_launch(kernel: str, action: Callable[[], None]) -> Callable[[], None]:
    """Do something as a kernel is launched whose name has a part."""

    def alter() -> None:
        launch = standin.EmulatedGpu.launch

        def launched(self: Any, module: int, name: bytes, *call: Any, **more: Any) -> int:
            if kernel in name.decode() or (os.environ.get(HUNG, "") and _is_hung()):
                action()
            return launch(self, module, name, *call, **more)

        standin.EmulatedGpu.launch = launched  # type: ignore[method-assign,assignment]

    return alter


def _is_hung() -> bool:
    return Path(os.environ[HUNG]).exists()


def _sleep() -> None:
    if os.environ.get(HUNG):
        Path(os.environ[HUNG]).touch()
    time.sleep(3600)


def _fail() -> None:
    raise RuntimeError(f"a launch that fails in {Path.home() / 'secret' / 'kernel.py'}")


ALTERATIONS: Mapping[str, Callable[[], None]] = MappingProxyType(
    {
        "add_f32 toward zero": lambda: _change("v_add_f32", _of_expression(_toward_zero)),
        "mul_f32 without denormals": lambda: _change(
            "v_mul_f32", _of_expression(_without_denormals)
        ),
        "fma_f32 without denormals": lambda: _change(
            "v_fma_f32", _of_expression(_without_denormals)
        ),
        "fma_f32 last bit": lambda: _change("v_fma_f32", _of_expression(_last_bit)),
        "rcp_f32 last bit": lambda: _change("v_rcp_f32", _of_expression(_last_bit)),
        "sqrt_f32 last bit": lambda: _change("v_sqrt_f32", _of_expression(_last_bit)),
        "bfe_u32 one more": lambda: _change("v_bfe_u32", _of_expression(_one_more)),
        "row_shr lanes": swap_dpp_lanes,
        "wmma_f32_16x16x16_f16 lanes": lambda: _change(
            "v_wmma_f32_16x16x16_f16", _swapped_result_lanes
        ),
        "matrix sums one by one": add_one_by_one,
        "LDS kernel crashes": _on_launch("_reversed_blocks", os.abort),
        "LDS kernel hangs": _on_launch("_reversed_blocks", _sleep),
        "LDS kernel fails": _on_launch("_reversed_blocks", _fail),
    }
)
