"""V_MFMA_*_F8F6F4 and V_MFMA_SCALE_*: products of 8, 6 and 4 bits, whose formats `cbsz` and `blgp`
say, with a scale for 32 neighbours along k (CDNA 4 ISA, 7.1.5 and 7.2).

A lane holds 32 elements: 32 neighbours along k of 6 and 4 bits, twice 16 neighbours of 8 bits. The
scale of a row and a block of 32 is in the lane that would hold the block's 4-bit elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from amdjit.emulator.host.builder import Builder, Value, constant
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.instructions.matrix.cdna.emit import (
    addend_of,
    pointers,
)
from amdjit.emulator.instructions.matrix.cdna.grid_rules import (
    INFINITE,
    Grid,
    QuickGrid,
    RunningBounds,
)
from amdjit.emulator.instructions.matrix.cdna.native import Body, finished
from amdjit.emulator.instructions.matrix.cdna.panels import (
    INTEGERS,
    Panel,
    Sums,
    copy_registers,
)
from amdjit.emulator.instructions.matrix.cdna.products import BITS, ROW_LANES, ROWS, Mfma
from amdjit.emulator.instructions.matrix.cdna.rules import Parts
from amdjit.emulator.instructions.matrix.dot_factors import FactorPair
from amdjit.emulator.instructions.matrix.grid_step import BIAS, FRACTION
from amdjit.emulator.instructions.matrix.loops import Loop
from amdjit.emulator.instructions.matrix.quick_steps import FAR, ZEROS, Bounds
from amdjit.emulator.instructions.operation import Emitter
from amdjit.emulator.instructions.whole_waves import in_each_half, matrix_register
from amdjit.emulator.wave.errors import Untranslatable
from amdjit.emulator.wave.frame import Frame
from amdjit.emulator.wave.registers import FULL_MASK, V32
from amdjit.isa.floats.elements import ELEMENTS
from amdjit.isa.floats.modes import is_infinite
from amdjit.isa.instruction import InlineConstant, Instruction, Register
from amdjit.isa.matrix_rounding import GridRule
from amdjit.isa.register_numbers import vector_number
from amdjit.late_methods import dataclass

# In the order of their numbers in cbsz and blgp.
FORMATS = ("fp8", "bf8", "fp6", "bf6", "fp4")
_SHAPES = ((16, 128), (32, 64))
_ELEMENTS = 32
_ROW_BYTES = 4 * ROW_LANES
# The byte of a scale of 1.
_ONE = 127
_OPERANDS = ("left", "right", "left_scale", "right_scale")


def scaled_products() -> Iterator[Mfma]:
    """Yield the products of all formats."""
    for shape in _SHAPES:
        for a in FORMATS:
            yield from (Mfma("cdna3", "f32", a, b, *shape) for b in FORMATS)


def symbol_of(product: Mfma) -> str:
    """Return the name of a product's native function."""
    return f"{product.symbol}_scaled"


def parameters_of(product: Mfma) -> list[tuple[str, str]]:
    """Return the parameters of a product's function.

    `ptr d, d_upper, c, c_upper, left, left_upper, right, ..., left_scale, ..., right_scale, ...`:
    registers of the lower and the upper half of the wave. `i64 stride`: bytes between elements of
    C, 0 for a constant. `i32 left_byte, right_byte`: which byte of a register is the scale.
    """
    names = [name + half for name in ("d", "c", *_OPERANDS) for half in ("", "_upper")]
    bytes_ = [("i32", "left_byte"), ("i32", "right_byte")]
    return [*(("ptr", name) for name in names), ("i64", "stride"), *bytes_]


def scaled_text(product: Mfma, attributes: str) -> str:
    """Return the definition of a product's function."""
    f = NativeFunction(symbol_of(product), "void", parameters_of(product))
    sums = Sums.load(f, product, None)
    body = Body(f, product, sums, None)
    grid = product.rule
    assert isinstance(grid, GridRule)
    quick = QuickScaledGrid(product.a, product.b, grid)
    rule = ScaledGrid(FactorPair(product.a, product.b, grid), product.result)
    bounds = [RunningBounds.start(f) for _ in range(2)]
    panels = [
        _filled(f, product, quick, factor, own) for factor, own in zip("ab", bounds, strict=True)
    ]
    ordinary, checked, done = (f.block(name) for name in ("ordinary", "checked", "added"))
    is_extreme = body.are_extreme(quick, [each.found(f) for each in bounds])
    f.branch_if(is_extreme, checked, ordinary, (1, 4000))
    f.label(ordinary)
    body.multiply(quick, (panels[0], panels[1]))
    f.branch(done)
    f.label(checked)
    body.multiply(rule, (_filled(f, product, rule, "a"), _filled(f, product, rule, "b")))
    f.branch(done)
    f.label(done)
    sums.store(f, partial(finished, f, product))
    f.give()
    return f.text(attributes)


def _filled(
    f: NativeFunction,
    product: Mfma,
    rule: ScaledGrid | QuickScaledGrid,
    factor: str,
    bounds: RunningBounds | None = None,
) -> Panel:
    """Return the panel of A or B. bounds: to meet its numbers."""
    name, kind = ("left", product.a) if factor == "a" else ("right", product.b)
    panel = Panel.of(f, product, factor, rule.kinds)
    copied = copy_registers(f, product, name, product.dwords(factor))
    scales = copy_registers(f, product, f"{name}_scale", 1)
    amount = f.splat(f.shift("shl", f.parameter(f"{name}_byte"), 3), ROW_LANES)
    row = Loop(f, "lanes", len(ROWS))
    dwords = [
        f.load(INTEGERS, f.offset(copied, _row_of(f, row.index, dword)), 64)
        for dword in range(product.dwords(factor))
    ]
    runs = 2 if BITS[kind] == 8 else 1
    seen = []
    for run in range(runs):
        first, source = _run(f, product, row.index, (run, runs))
        held = f.load(INTEGERS, f.offset(scales, f.shift("shl", source, 6)), 64)
        scale = f.mask(f.binary("lshr", held, amount), 8)
        count = _ELEMENTS // runs
        for element in range(count):
            lanes = _element(f, dwords, BITS[kind], run * count + element)
            number = ELEMENTS[kind].widen(f, lanes)
            place = f.add(first, i64(element * product.across))
            parts = rule.scaled(f, factor, number, scale)
            panel.store(f, place, parts)
            seen.append(parts[0])
    if bounds is not None:
        bounds.meet(f, seen)
    row.close()
    return panel


def _row_of(b: Builder, row: Value, register: int) -> Value:
    return b.add(b.shift("shl", row, 6), i64(register * len(ROWS) * _ROW_BYTES))


def _run(b: Builder, product: Mfma, row: Value, which: tuple[int, int]) -> tuple[Value, Value]:
    """Return where the elements of a run of neighbours along k begin in the panel, for a row of 16
    lanes, and which row of lanes has their scales. which: the run's number, and how many a lane
    has."""
    number, runs = which
    beside = product.across // ROW_LANES
    groups = len(ROWS) // beside
    group, part = b.shift("lshr", row, beside - 1), b.mask(row, beside - 1)
    length = _ELEMENTS // runs
    along = b.add(b.mul(group, i64(length)), i64(number * length * groups))
    first = b.add(b.mul(along, i64(product.across)), b.mul(part, i64(ROW_LANES)))
    block = b.shift("lshr", along, 5)
    return first, b.add(b.mul(block, i64(beside)), part)


def _element(b: Builder, dwords: list[Value], bits: int, number: int) -> Value:
    """Return an element as low bits; the others may be anything."""
    dword, start = divmod(number * bits, 32)
    low = b.shift("lshr", dwords[dword], start) if start else dwords[dword]
    if start + bits <= 32:
        return low
    return b.or_(low, b.shift("shl", dwords[dword + 1], 32 - start))


def scaled_product_sources() -> Mapping[str, Callable[[str], str]]:
    """Return what makes the text of each native function."""
    return {symbol_of(each): partial(scaled_text, each) for each in scaled_products()}


def _multiply(m: int, k: int) -> Emitter:
    def emit(frame: Frame, instruction: Instruction) -> None:
        a, b = (_format(instruction, name) for name in ("cbsz", "blgp"))
        if "bf8" in (a, b) and frame.clamps_overflow is not False:
            frame.refuse(instruction, "no document says what FP16_OVFL makes of infinite factors")
        product = Mfma("cdna3", "f32", a=a, b=b, m=m, k=k)
        target = matrix_register(instruction, 0)
        infinite = _infinite_addends(frame, instruction, target.dwords)
        places = in_each_half(frame, lambda: frame.registers.vector_slot(vector_number(target)))
        addend, stride = addend_of(frame, instruction, product)
        factors = [
            each
            for index in (1, 2)
            for each in pointers(frame, matrix_register(instruction, index))
        ]
        scales, chosen = _scales(frame, instruction)
        controls = [constant("i32", each) for each in chosen]
        arguments = [*places, *addend, *factors, *scales, i64(stride), *controls]
        frame.native_void(symbol_of(product), arguments)
        for half in range(frame.registers.halves):
            frame.registers.select_half(half)
            frame.registers.forget_vectors(vector_number(target), target.dwords)
            _limit(frame, target, infinite[half * target.dwords :])
        frame.registers.select_half(0)

    return emit


def _infinite_addends(frame: Frame, instruction: Instruction, count: int) -> list[Value]:
    """Return where C is infinite, for each register of the lower half and of the upper one; nothing
    if MODE lets results overflow."""
    if frame.clamps_overflow is False:
        return []
    found = []
    for half in range(frame.registers.halves):
        frame.registers.select_half(half)
        if isinstance(instruction.operands[3], InlineConstant):
            found += [frame.builder.const(FULL_MASK, 0)] * count
            continue
        first = vector_number(matrix_register(instruction, 3))
        for number in range(first, first + count):
            found.append(is_infinite(frame.builder, frame.registers.vector(number, "float")))
    frame.registers.select_half(0)
    return found


def _limit(frame: Frame, target: Register, infinite: list[Value]) -> None:
    """Make the largest number of sums that have overflowed: with MODE's FP16_OVFL the result is
    clamped (CDNA 4 ISA, 7.1.5). That this is so at the end, and not in the steps of the sum, is an
    assumption."""
    b, first = frame.builder, vector_number(target)
    for number, is_addend in zip(range(first, first + target.dwords), infinite, strict=False):
        value = frame.registers.vector(number, "float")
        overflows = b.and_(is_infinite(b, value), b.not_(is_addend))
        clamps = frame.clamps_overflow
        if isinstance(clamps, Value):
            overflows = b.and_(overflows, b.splat(clamps))
        # The bits of infinity less one are those of the largest number.
        raw = frame.registers.vector(number)
        limited = b.select(overflows, b.sub(raw, b.const(raw, 1)), raw)
        frame.registers.write_vector(number, limited, FULL_MASK)


def _format(instruction: Instruction, control: str) -> str:
    number = instruction.immediates.get(control, 0)
    if number >= len(FORMATS):
        raise Untranslatable(instruction, f"{control} is 0 to {len(FORMATS) - 1}")
    return FORMATS[number]


def _scales(frame: Frame, instruction: Instruction) -> tuple[list[Value], list[int]]:
    """Return the addresses of the scales' registers, and which byte of them counts: bit 1 is in
    op_sel_hi, bit 0 in op_sel."""
    if len(instruction.operands) == 4:
        frame.builder.store(constant(V32, _ONE), frame.staging(2), 64)
        return [frame.staging(2)] * 4, [0, 0]
    low, high = (instruction.immediates[name] for name in ("op_sel", "op_sel_hi"))
    found = [
        each for index in (4, 5) for each in pointers(frame, matrix_register(instruction, index))
    ]
    return found, [(high >> number & 1) << 1 | low >> number & 1 for number in (0, 1)]


SCALED_MFMA: Mapping[str, Emitter] = {
    f"v_{kind}_f32_{m}x{m}x{k}_f8f6f4": _multiply(m, k)
    for kind in ("mfma", "mfma_scale")
    for m, k in _SHAPES
}


# How products of 8, 6 and 4 bits with scales are added: as those of 8-bit floats of gfx942, with
# the exponents of two scales in that of each product.
#
# A scale is E8M0: 2**(byte - 127), and 255 is NaN (CDNA 4 ISA, 7.2). The document says of the sum
# only that the scales' exponents are added to those of the products (7.1.5); the steps and the
# rounding are a model, that of the host reference.


_NAN_SCALE = 255


@dataclass(frozen=True, slots=True)
class ScaledGrid(Grid):
    """A step of 16 products with scales. The number among a factor's parts is without its scale,
    but NaN if the scale is."""

    def scaled(self, b: Builder, factor: str, number: Value, scale: Value) -> Parts:
        """Take apart factors with the bytes of their scales."""
        plain, significand, exponent = self.parts(b, factor, number)
        is_nan = b.compare("eq", scale, b.const(scale, _NAN_SCALE))
        moved = b.add(exponent, b.sub(scale, b.const(scale, BIAS)))
        return b.select(is_nan, b.const(plain, float("nan")), plain), significand, moved

    def term(self, b: Builder, x: Parts, y: Parts) -> Value:
        """Return a product, infinite from 2**128 on."""
        plain = b.binary("fmul", x[0], y[0])
        size = b.intrinsic("abs", b.mul(x[1], y[1]), flags=[constant("i1", 0)])
        zeros = b.intrinsic("ctlz", size, flags=[constant("i1", 0)])
        unit = b.add(x[2], y[2])
        leading = b.sub(b.add(unit, b.const(unit, 31 - self.rule.product_bits)), zeros)
        # The sum of the exponents has a bias; that of a zero is far below.
        is_large = b.compare("sge", leading, b.const(leading, BIAS + INFINITE))
        infinity = b.intrinsic("copysign", b.const(plain, float("inf")), plain)
        is_finite = b.compare("olt", b.intrinsic("fabs", plain), b.const(plain, float("inf")))
        return b.select(b.and_(is_large, is_finite), infinity, plain)


@dataclass(frozen=True, slots=True)
class QuickScaledGrid(QuickGrid):
    """`ScaledGrid` for ordinary operands: factors that are so with their scales."""

    def scaled(self, b: Builder, factor: str, number: Value, scale: Value) -> Parts:
        """Take apart factors with the bytes of their scales. The number has its scale; it is not
        finite if the scale is NaN, and has the exponent of its format."""
        at_least = b.intrinsic("umax", scale, b.const(scale, 1))
        power = b.bitcast(b.shift("shl", at_least, FRACTION), "float")
        moved = b.shift("shl", b.sub(scale, b.const(scale, BIAS)), FRACTION)
        _, field = self.parts(b, factor, number)
        is_zero = b.compare("oeq", number, b.const(number, 0.0))
        field = b.select(is_zero, b.const(field, ZEROS[factor] << FRACTION), b.add(field, moved))
        return b.binary("fmul", number, power), field

    def are_extreme(self, b: Builder, factor: Bounds) -> Value:
        """Return the lanes where a factor is not ordinary."""
        return factor.exceed(b, -FAR, FAR + 1)
