"""V_DOT2 and V_DOT4 of floats as functions of 32 lanes: one step of a dot product with 2 or 4
products."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from amdjit.emulator.host.builder import Value, constant, vector
from amdjit.emulator.host.function import V32, NativeFunction, i32
from amdjit.emulator.instructions.matrix.dot_factors import Factor, parted
from amdjit.emulator.instructions.matrix.grid_step import GridStep
from amdjit.emulator.instructions.matrix.quick_steps import QuickFloors
from amdjit.isa.floats.elements import ELEMENTS


@dataclass(frozen=True, slots=True)
class Dot:
    """A dot product by the types of its factors and of C and D. of_gfx11: with the arithmetic of
    gfx11, otherwise with that of gfx12."""

    a: str
    b: str
    result: str
    of_gfx11: bool = False

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_dot{'11' if self.of_gfx11 else ''}_{self.result}_{self.a}_{self.b}"

    @property
    def overflows(self) -> bool:
        """Whether MODE's FP16_OVFL applies to results that are too large for the format."""
        return self.result == "f16"


def dots() -> Iterator[Dot]:
    """Yield every float dot product that gfx12 or gfx11 has."""
    for kind in ("f16", "bf16"):
        for result in ("f32", kind):
            yield from (Dot(kind, kind, result, of_gfx11) for of_gfx11 in (False, True))
    for a in ("fp8", "bf8"):
        yield from (Dot(a, b, "f32") for b in ("fp8", "bf8"))


def _function(dot: Dot) -> NativeFunction:
    parameters = [(V32, name) for name in ("x", "y", "c")]
    return NativeFunction(
        dot.symbol, V32, [*parameters, ("i32", "clamps")] if dot.overflows else parameters
    )


def _give(f: NativeFunction, dot: Dot, bits: Value) -> None:
    """Return f32 lanes as bits of the result."""
    value = f.bitcast(bits, "float")
    f.give(bits if dot.result == "f32" else ELEMENTS[dot.result].narrow(f, value))


def _addend(f: NativeFunction, dot: Dot) -> Value:
    """Return C as f32."""
    bits = f.parameter("c")
    return f.bitcast(bits, "float") if dot.result == "f32" else ELEMENTS[dot.result].widen(f, bits)


def rounded_dot_text(dot: Dot, attributes: str) -> str:
    """Return the definition: `<32 x i32> (x, y, c)` of packed factors, with the rounding of the
    hardware."""
    f = _function(dot)
    step = GridStep.of(dot.a, dot.b, dot.result)
    left, right = (
        _taken_apart(f, "x", step.factors.left, dot),
        _taken_apart(f, "y", step.factors.right, dot),
    )
    addend = f.bitcast(_addend(f, dot), "i32")
    sums = step.sums(f, left, right)
    quick, wrong = QuickFloors(step).result(f, sums, addend)
    f.branch_if(f.compare("ne", f.mask_bits(wrong), i32(0)), "exactly", "rounded")
    f.label("exactly")
    clamps = f.compare("ne", f.parameter("clamps"), i32(0)) if dot.overflows else constant("i1", 0)
    exact = step.exact(f, left, right=right, addend=addend, clamps=clamps, sums=sums)
    f.branch("rounded")
    f.label("rounded")
    _give(f, dot, f.phi(V32, (quick, "entry"), (exact, "exactly")))
    return f.text(attributes)


def complement_dot_text(dot: Dot, attributes: str) -> str:
    """Return the definition for gfx11."""
    f = _function(dot)
    step = GridStep.of(dot.a, dot.b, dot.result, is_gfx11=True)
    left, right = (
        list(step.pairs(f, which, f.parameter(name))[1]) for which, name in (("a", "x"), ("b", "y"))
    )
    clamps = f.compare("ne", f.parameter("clamps"), i32(0)) if dot.overflows else constant("i1", 0)
    _give(f, dot, step.exact(f, left, right, f.bitcast(_addend(f, dot), "i32"), clamps))
    return f.text(attributes)


def _taken_apart(
    f: NativeFunction, name: str, take_apart: Callable[[NativeFunction, Value], Factor], dot: Dot
) -> list[Factor]:
    packed = f.parameter(name)
    if ELEMENTS[dot.a].bits == 16:
        return list(parted(f, take_apart(f, f.cast("bitcast", packed, vector("i16", 64)))))
    return [take_apart(f, f.mask(f.shift("lshr", packed, start), 8)) for start in range(0, 32, 8)]


def chain_dot_text(dot: Dot, attributes: str) -> str:
    """Return the same function as f32 multiply-adds in the order of the elements."""
    f = _function(dot)
    total = _addend(f, dot)
    bits = ELEMENTS[dot.a].bits
    for start in range(0, 32, bits):
        x = ELEMENTS[dot.a].widen(f, f.shift("lshr", f.parameter("x"), start))
        y = ELEMENTS[dot.b].widen(f, f.shift("lshr", f.parameter("y"), start))
        total = f.intrinsic("fma", x, y, total)
    if dot.overflows:
        total = below_infinity(f, total, f.compare("ne", f.parameter("clamps"), i32(0)))
    _give(f, dot, f.bitcast(total, "i32"))
    return f.text(attributes)


def below_infinity(f: NativeFunction, value: Value, clamps: Value) -> Value:
    """Return f32 lanes; where `clamps` holds, finite ones are limited to f16's largest number."""
    size = f.intrinsic("fabs", value)
    largest = f.intrinsic("copysign", f.const(value, 65504.0), value)
    is_large = f.compare("ogt", size, f.const(value, 65504.0))
    is_finite = f.compare("olt", size, f.const(value, float("inf")))
    clamped = f.select(f.and_(is_large, is_finite), largest, value)
    return f.select(clamps, clamped, value)


def dot_sources(arithmetic: str) -> Mapping[str, Callable[[str], str]]:
    """Return the function that makes each native function's text; those of gfx11 have only the
    rounding of the hardware."""
    text = rounded_dot_text if arithmetic == "silicon" else chain_dot_text
    return {
        dot.symbol: partial(complement_dot_text if dot.of_gfx11 else text, dot) for dot in dots()
    }
