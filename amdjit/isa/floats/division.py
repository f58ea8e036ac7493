"""The steps of correctly rounded division: scale, multiply-add, fix up (RDNA 4 ISA, V_DIV_*)."""

from __future__ import annotations

from collections.abc import Mapping

from amdjit.isa.arithmetic import Arithmetic, Value, bits_of, element_of
from amdjit.isa.floats import expressions as fx
from amdjit.isa.floats.nans import bits, fused_nan, invalid, is_nan, quieted, settled
from amdjit.isa.integer_expressions import Expression
from amdjit.isa.integer_rows import Row
from amdjit.late_methods import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """What division needs to know of a float format.

    far: the difference of exponents from which on the quotient is scaled. Halves are divided
    without scaling.
    """

    code: str
    scale: int
    far: int
    bias: int
    mantissa: int


HALF = Format("f16", 0, 0, 15, 10)
SINGLE = Format("f32", 64, 96, 127, 23)
DOUBLE = Format("f64", 128, 768, 1023, 52)
# LLVM's number of the rounding to nearest.
_NEAREST = 1
FORMATS: Mapping[int, Format] = {16: HALF, 32: SINGLE, 64: DOUBLE}
SCALES: Mapping[str, Format] = {form.code: form for form in (SINGLE, DOUBLE)}


def scale_expression(
    b: Arithmetic, s0: Value, s1: Value, s2: Value, *, form: Format
) -> tuple[Value, Value]:
    """Return S0, the numerator S2 or the denominator S1, scaled, and the lanes whose quotient must
    be scaled back.

    The exponent fields decide, even those of zeros, infinities and NaNs: the ISA document's
    conditions on reciprocal and quotient are not what gfx1201 does
    (tests/hardware/alu_gfx1201.json).
    """
    up = b.binary("fmul", s0, b.const(s0, 2.0**form.scale))
    down = b.binary("fmul", s0, b.const(s0, 2.0**-form.scale))
    is_denominator = b.compare("eq", bits(b, s0), bits(b, s1))
    e1, e2 = (fx.unbiased_exponent(b, value) for value in (s1, s2))
    difference = b.sub(e2, e1)
    far = b.compare("sge", difference, b.const(e1, form.far))
    near_zero = b.compare("sle", difference, b.const(e1, -form.far))
    large = b.compare("sge", e1, b.const(e1, 2 * form.bias - 1))
    # In reverse order of precedence: each select overrides the ones before it.
    result = b.select(b.compare("sle", e2, b.const(e2, form.mantissa + 1)), up, s0)
    result = b.select(near_zero, b.select(is_denominator, s0, up), result)
    result = b.select(large, b.select(b.and_(near_zero, b.not_(is_denominator)), s0, down), result)
    result = b.select(b.compare("eq", e1, b.const(e1, 0)), up, result)
    result = b.select(far, b.select(is_denominator, up, s0), result)
    zero = b.const(s0, 0.0)
    no_quotient = b.or_(b.compare("oeq", s1, zero), b.compare("oeq", s2, zero))
    chosen = b.select(is_nan(b, s0), quieted(b, s0), bits(b, result))
    chosen = b.select(no_quotient, invalid(b, s0), chosen)
    scaled_back = b.or_(far, b.and_(near_zero, b.compare("ne", e1, b.const(e1, 0))))
    return b.bitcast(chosen, element_of(s0.type)), scaled_back


def multiply_add(form: Format) -> Row:
    """Return the row of fma, times 2**scale or 2**-scale in the lanes of VCC, away from 1 on the
    addend's side;
    rounded once.

    The ISA document has one factor for both directions; gfx1201 and the division sequence need
    both.
    """
    compute = _single_multiply_add if form is SINGLE else _double_multiply_add

    def variant(for_omod: bool) -> Expression:
        def expression(b: Arithmetic, x: Value, y: Value, z: Value, scaled: Value) -> Value:
            exponent = fx.unbiased_exponent(b, z)
            large = b.and_(scaled, b.compare("sgt", exponent, b.const(exponent, form.bias)))
            result, tiny = compute(b, (x, y, z), large, b.and_(scaled, b.not_(large)))
            result = settled(b, result, [x, y, z], fused_nan)
            return b.select(tiny, b.const(result, 0.0), result) if for_omod else result

        return expression

    return Row(variant(False), scaled=variant(True))


def _single_multiply_add(
    b: Arithmetic, operands: tuple[Value, Value, Value], up: Value, down: Value
) -> tuple[Value, Value]:
    """Compute in double precision, where the product is exact; the last bit keeps what the sum
    loses."""
    rounding, b.rounding = b.rounding, None
    x, y, z = (b.convert("fpext", v, "double") for v in operands)
    product = b.binary("fmul", x, y)
    total, error = _two_sum(b, product, z)
    raw, zero = bits(b, total), b.const(total, 0.0)
    step = b.select(_same_sign(b, error, total), b.const(raw, 1), b.const(raw, -1))
    even = b.compare("eq", b.mask(raw, 1), b.const(raw, 0))
    odd = b.add(raw, b.select(b.and_(even, b.compare("one", error, zero)), step, b.const(raw, 0)))
    one = b.const(total, 1.0)
    factor = b.select(
        up,
        b.const(total, 2.0**SINGLE.scale),
        b.select(down, b.const(total, 2.0**-SINGLE.scale), one),
    )
    value = b.binary("fmul", b.bitcast(odd, "double"), factor)
    if rounding is not None:
        b.rounding = rounding
        # The sign of a sum that is 0 depends on the mode.
        plain = b.intrinsic("fma", *operands)
        exact = b.compare("oeq", value, zero)
        return b.select(exact, plain, b.convert("fptrunc", value, "float")), _is_tiny(
            b, value, SINGLE
        )
    return b.convert("fptrunc", value, "float"), _is_tiny(b, value, SINGLE)


def _is_tiny(b: Arithmetic, value: Value, form: Format) -> Value:
    """Return where an exact value is below the normal numbers of a format, even if it rounds to
    one."""
    smallest = 2.0 ** (1 - form.bias)
    return b.compare(
        "olt",
        b.intrinsic("fabs", value),
        b.const(value, smallest - smallest * 2.0 ** -(form.mantissa + 2)),
    )


def _double_multiply_add(
    b: Arithmetic, operands: tuple[Value, Value, Value], up: Value, down: Value
) -> tuple[Value, Value]:
    x, y, z = operands
    plain = fx.fma(b, x, y, z)
    by_power = b.const(z, 2.0**DOUBLE.scale), b.const(z, 2.0**-DOUBLE.scale)
    raised, lowered = b.binary("fmul", plain, by_power[0]), _lowered(b, operands, plain)
    result = b.select(up, raised, b.select(down, lowered, plain))
    return result, _is_tiny_double(b, operands, plain, down)


def _lowered(b: Arithmetic, operands: tuple[Value, Value, Value], plain: Value) -> Value:
    """Return (x * y + z) * 2**-128, rounded once, even where the sum itself overflows."""
    x, y, z = operands
    if b.rounding is None:
        result = _scaled_down_once(b, operands, plain, DOUBLE)
    else:
        result = _in_every_mode(b, operands, plain)
    root = b.const(z, 2.0 ** -(DOUBLE.scale // 2))
    addend = b.binary("fmul", z, b.const(z, 2.0**-DOUBLE.scale))
    # Of an addend far below the sum, only the sign matters.
    least = b.const(z, 2.0**-900)
    small = b.and_(
        b.compare("olt", b.intrinsic("fabs", addend), least), b.compare("one", z, b.const(z, 0.0))
    )
    addend = b.select(small, b.intrinsic("copysign", least, z), addend)
    large = fx.fma(b, b.binary("fmul", x, root), b.binary("fmul", y, root), addend)
    finite = b.const(_infinite(b, x), 1)
    for value in operands:
        finite = b.and_(finite, b.not_(_infinite(b, value)))
    largest = b.const(plain, (2 - 2.0**-52) * 2.0**1023)
    beyond = b.compare("oge", b.intrinsic("fabs", plain), largest)
    return b.select(b.and_(finite, beyond), large, result)


def _infinite(b: Arithmetic, x: Value) -> Value:
    return b.compare("oeq", b.intrinsic("fabs", x), b.const(x, float("inf")))


def _in_every_mode(b: Arithmetic, operands: tuple[Value, Value, Value], plain: Value) -> Value:
    """Return the same in modes other than to nearest, in which two roundings in a row are one."""
    rounding = b.rounding
    assert rounding is not None
    directed = b.binary("fmul", plain, b.const(plain, 2.0**-DOUBLE.scale))
    if not rounding.text.startswith("%"):
        return directed
    b.rounding = None
    nearest = _scaled_down_once(b, operands, plain, DOUBLE)
    b.rounding = rounding
    return b.select(b.compare("eq", rounding, b.const(rounding, _NEAREST)), nearest, directed)


def _is_tiny_double(
    b: Arithmetic, operands: tuple[Value, Value, Value], plain: Value, down: Value
) -> Value:
    """Return where the result, rounded with an unbounded exponent, is below the normal numbers."""
    x, y, z = operands
    power, smallest = 2.0**DOUBLE.scale, 2.0 ** (1 - DOUBLE.bias)
    size = b.intrinsic("fabs", plain)
    # If a product is near the smallest number, its smaller factor can be scaled up.
    first = b.compare("olt", b.intrinsic("fabs", x), b.intrinsic("fabs", y))
    left = b.select(first, b.binary("fmul", x, b.const(x, power)), x)
    right = b.select(first, y, b.binary("fmul", y, b.const(y, power)))
    raised = b.intrinsic("fabs", fx.fma(b, left, right, b.binary("fmul", z, b.const(z, power))))
    from_below = b.and_(
        b.compare("oeq", size, b.const(size, smallest)),
        b.compare("olt", raised, b.const(size, smallest * power)),
    )
    unscaled = b.or_(b.compare("olt", size, b.const(size, smallest)), from_below)
    return b.select(down, b.compare("olt", size, b.const(size, smallest * power)), unscaled)


def _same_sign(b: Arithmetic, x: Value, y: Value) -> Value:
    both = b.xor(bits(b, x), bits(b, y))
    return b.compare("sge", both, b.const(both, 0))


def _two_sum(b: Arithmetic, x: Value, y: Value) -> tuple[Value, Value]:
    """Return the rounded sum and its exact error (Knuth)."""
    total = b.binary("fadd", x, y)
    back = b.binary("fsub", total, x)
    left = b.binary("fsub", x, b.binary("fsub", total, back))
    return total, b.binary("fadd", left, b.binary("fsub", y, back))


def _fma_error(b: Arithmetic, operands: tuple[Value, Value, Value], plain: Value) -> Value:
    """Return the rounded error of a fused multiply-add (Boldo and Muller, "Exact and approximated
    error of the FMA")."""
    x, y, z = operands
    product = b.binary("fmul", x, y)
    rest = b.intrinsic("fma", x, y, b.negate(product))
    first, second = _two_sum(b, z, rest)
    third, fourth = _two_sum(b, product, first)
    error = b.binary("fadd", b.binary("fadd", b.binary("fsub", third, plain), fourth), second)
    # Of a product far below the sum, only the sign matters, even if the product underflows.
    least = b.const(x, 2.0**-1000)
    there = b.and_(b.compare("one", x, b.const(x, 0.0)), b.compare("one", y, b.const(y, 0.0)))
    small = b.and_(there, b.compare("olt", b.intrinsic("fabs", product), least))
    signed = b.intrinsic("copysign", least, b.bitcast(b.xor(bits(b, x), bits(b, y)), "double"))
    return b.select(small, signed, error)


def _scaled_down_once(
    b: Arithmetic, operands: tuple[Value, Value, Value], plain: Value, form: Format
) -> Value:
    """Return (x * y + z) * 2**-scale, rounded once: if the rounded sum is halfway between two
    denormals, its error decides."""
    result = b.binary("fmul", plain, b.const(plain, 2.0**-form.scale))
    back = b.binary("fmul", result, b.const(plain, 2.0**form.scale))
    rest = b.binary("fsub", plain, back)
    half_step = 2.0 ** (form.scale - form.bias - form.mantissa)
    tie = b.compare("oeq", b.intrinsic("fabs", rest), b.const(plain, half_step))
    error, zero = _fma_error(b, operands, plain), b.const(plain, 0.0)
    above = b.and_(b.compare("ogt", error, zero), b.compare("ogt", rest, zero))
    below = b.and_(b.compare("olt", error, zero), b.compare("olt", rest, zero))
    same_side = b.or_(above, below)
    step = b.intrinsic("copysign", b.const(plain, 2.0 ** (1 - form.bias - form.mantissa)), rest)
    return b.select(b.and_(tie, same_side), b.binary("fadd", result, step), result)


def fix_up(b: Arithmetic, quotient: Value, denominator: Value, numerator: Value) -> Value:
    """Return numerator / denominator in the special cases, otherwise the quotient with the right
    sign.

    The steps before return NaN or infinity for a quotient that overflows, so both become an
    infinity here; a quotient that underflows is found by its exponents. Halves have no such steps.
    """
    width = bits_of(quotient.type)
    form = FORMATS[width]
    raw = [bits(b, value) for value in (quotient, denominator, numerator)]
    sizes = [b.mask(value, width - 1) for value in raw]
    shape = sizes[0]
    sign = b.and_(b.xor(raw[1], raw[2]), b.const(shape, 1 << width - 1))
    infinity, zero = b.const(shape, (2 * form.bias + 1) << form.mantissa), b.const(shape, 0)
    result = b.select(b.compare("ugt", sizes[0], infinity), infinity, sizes[0])
    if width != 16:
        exponents = [b.shift("lshr", size, form.mantissa) for size in sizes]
        difference = b.sub(exponents[2], exponents[1])
        under = b.compare("slt", difference, b.const(difference, -(form.bias + form.mantissa)))
        result = b.select(under, zero, result)
    nothing, without_end = (
        [b.compare("eq", size, limit) for size in sizes] for limit in (zero, infinity)
    )
    result = b.select(b.or_(nothing[2], without_end[1]), zero, result)
    result = b.select(b.or_(nothing[1], without_end[2]), infinity, result)
    result = b.or_(result, sign)
    undefined = b.or_(b.and_(nothing[1], nothing[2]), b.and_(without_end[1], without_end[2]))
    result = b.select(undefined, invalid(b, quotient), result)
    for operand in (denominator, numerator):
        result = b.select(is_nan(b, operand), quieted(b, operand), result)
    return b.bitcast(result, element_of(quotient.type))
