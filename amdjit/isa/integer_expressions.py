"""Integer operations as expressions over scalars and vectors alike, and the combinators of all
expressions."""

from __future__ import annotations

from collections.abc import Callable

from amdjit.isa.arithmetic import Arithmetic, Value, bits_of

Expression = Callable[..., Value]


def binary(operation: str) -> Expression:
    """Return the expression of a plain LLVM binary operation."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        return b.binary(operation, x, y)

    return expression


def reverse(inner: Expression) -> Expression:
    """Swap the two operands, as `rev` instructions do."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        return inner(b, y, x)

    return expression


def intrinsic(name: str) -> Expression:
    """Return the expression of an overloaded LLVM intrinsic."""

    def expression(b: Arithmetic, *operands: Value) -> Value:
        return b.intrinsic(name, *operands)

    return expression


def chain(first: Expression, second: Expression) -> Expression:
    """Return second(first(x, y), z)."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        return second(b, first(b, x, y), z)

    return expression


def negated(inner: Expression) -> Expression:
    """Complement the result."""

    def expression(b: Arithmetic, *operands: Value) -> Value:
        return b.not_(inner(b, *operands))

    return expression


def shift(operation: str) -> Expression:
    """Shift x by y, y taken modulo the width; y may be narrower or wider than x."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        return b.shift(operation, x, b.resize(y, bits_of(x.type)))

    return expression


def mov(b: Arithmetic, x: Value) -> Value:
    """Return the operand."""
    return x


def and_not(b: Arithmetic, x: Value, y: Value) -> Value:
    """x & ~y."""
    return b.and_(x, b.not_(y))


def or_not(b: Arithmetic, x: Value, y: Value) -> Value:
    """x | ~y."""
    return b.or_(x, b.not_(y))


def and_or(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """(x & y) | z."""
    return b.or_(b.and_(x, y), z)


def lshl_add(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """(x << y) + z."""
    return b.add(b.shift("shl", x, y), z)


def lshl_or(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """(x << y) | z."""
    return b.or_(b.shift("shl", x, y), z)


def add_lshl(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """(x + y) << z."""
    return b.shift("shl", b.add(x, y), z)


def xad(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """(x ^ y) + z."""
    return b.add(b.xor(x, y), z)


def mul_high(signed: bool) -> Expression:
    """Return the upper half of the double-width product."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        width = bits_of(x.type)
        wide = b.mul(b.resize(x, 2 * width, signed), b.resize(y, 2 * width, signed))
        return b.resize(b.shift("lshr", wide, width), width)

    return expression


def low_24(b: Arithmetic, x: Value, signed: bool) -> Value:
    """Return the low 24 bits, sign- or zero-extended: the upper 8 bits of the operand are
    ignored."""
    if not signed:
        return b.mask(x, 24)
    return b.shift("ashr", b.shift("shl", x, 8), 8)


def mul_24(signed: bool, high: bool) -> Expression:
    """Multiply 24-bit operands: bits 31:0, or 47:32 extended."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        left, right = low_24(b, x, signed), low_24(b, y, signed)
        return mul_high(signed)(b, left, right) if high else b.mul(left, right)

    return expression


def mad_24(signed: bool) -> Expression:
    """Multiply 24-bit operands and add."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        return b.add(mul_24(signed, False)(b, x, y), z)

    return expression


def mad(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """x * y + z."""
    return b.add(b.mul(x, y), z)


def mad_wide(signed: bool) -> Expression:
    """Multiply narrow operands to the addend's width and add."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        width = bits_of(z.type)
        return b.add(b.mul(b.resize(x, width, signed), b.resize(y, width, signed)), z)

    return expression


def bfe(signed: bool) -> Expression:
    """Extract z bits from bit y on; bits past the top are 0, or copies of the sign if the field is
    signed."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        shifted = b.shift("ashr" if signed else "lshr", x, y)
        width = b.mask(z, 5)
        bits = b.and_(shifted, _low_ones(b, width))
        if not signed:
            return bits
        empty = b.compare("eq", width, b.const(x, 0))
        spare = b.sub(b.const(x, 32), width)
        extended = b.shift("ashr", b.shift("shl", bits, spare), spare)
        return b.select(empty, b.const(x, 0), extended)

    return expression


def _low_ones(b: Arithmetic, width: Value) -> Value:
    return b.sub(b.shift("shl", b.const(width, 1), width), b.const(width, 1))


def bfi(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
    """(x & y) | (~x & z)."""
    return b.or_(b.and_(x, y), b.and_(b.not_(x), z))


def bfm(b: Arithmetic, x: Value, y: Value) -> Value:
    """x ones, shifted left by y."""
    return b.shift("shl", _low_ones(b, b.mask(x, 5 if bits_of(x.type) == 32 else 6)), y)


def align(unit: int) -> Expression:
    """Shift the pair x:y right by z units (1 bit or 8) and keep 32 bits."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        amount = b.mask(z, 5 if unit == 1 else 2)
        scaled = amount if unit == 1 else b.shift("shl", amount, 3)
        return b.resize(b.shift("lshr", b.concat_bits(y, x), b.resize(scaled, 64)), 32)

    return expression


def count_leading(b: Arithmetic, x: Value) -> Value:
    """Return the number of leading zeros as 32 bits, -1 for 0."""
    return _count(b, x, "ctlz")


def count_trailing(b: Arithmetic, x: Value) -> Value:
    """Return the number of trailing zeros as 32 bits, -1 for 0."""
    return _count(b, x, "cttz")


def _count(b: Arithmetic, x: Value, name: str) -> Value:
    count = b.resize(b.intrinsic(name, x, flags=[Value("i1", "false")]), 32)
    return b.select(b.compare("eq", x, b.const(x, 0)), b.const(count, -1), count)


def count_sign(b: Arithmetic, x: Value) -> Value:
    """Return how many bits from the top equal the sign bit, as 32 bits; -1 if all do."""
    folded = b.xor(x, b.shift("ashr", x, bits_of(x.type) - 1))
    return count_leading(b, folded)


def bit_count(b: Arithmetic, x: Value) -> Value:
    """Return the number of set bits as 32 bits."""
    return b.resize(b.intrinsic("ctpop", x), 32)


def bit_count_add(b: Arithmetic, x: Value, y: Value) -> Value:
    """Return the number of set bits of x, plus y."""
    return b.add(b.intrinsic("ctpop", x), y)


def median(low: Expression, high: Expression) -> Expression:
    """Return the median of three integers, by expressions of their minimum and maximum."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        upper = low(b, high(b, x, y), z)
        return high(b, low(b, x, y), upper)

    return expression


def extend(bits: int, signed: bool) -> Expression:
    """Keep the low bits and extend them to the operand's width."""

    def expression(b: Arithmetic, x: Value) -> Value:
        return b.resize(b.resize(x, bits), bits_of(x.type), signed)

    return expression


def widen(signed: bool) -> Expression:
    """Extend 16 bits to 32."""

    def expression(b: Arithmetic, x: Value) -> Value:
        return b.resize(x, 32, signed)

    return expression


def absolute(b: Arithmetic, x: Value) -> Value:
    """Return the absolute value; the smallest integer is returned unchanged."""
    return b.intrinsic("abs", x, flags=[Value("i1", "false")])


def absolute_difference(b: Arithmetic, x: Value, y: Value) -> Value:
    """Return |x - y| in 32 bits, which may wrap."""
    return absolute(b, b.sub(x, y))


def pack(high_x: bool, high_y: bool) -> Expression:
    """Join a half of x (low) and a half of y (high)."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        low = b.shift("lshr", x, 16) if high_x else b.mask(x, 16)
        high = b.and_(y, b.const(y, 0xFFFF0000)) if high_y else b.shift("shl", y, 16)
        return b.or_(low, high)

    return expression


def permute_bytes(b: Arithmetic, x: Value, y: Value, selector: Value) -> Value:
    """Pick four bytes of x:y by the selector's bytes (RDNA 4 ISA, V_PERM_B32)."""
    known = b.known(selector)
    if known is not None:
        return _known_bytes(b, (y, x), known.to_bytes(4, "little"))
    data = b.concat_bits(y, x)
    result = b.const(x, 0)
    for position in range(4):
        choice = b.mask(b.shift("lshr", selector, 8 * position), 8)
        amount = b.resize(b.shift("shl", b.mask(choice, 3), 3), 64)
        plain = b.mask(b.resize(b.shift("lshr", data, amount), 32), 8)
        sign_bit = b.resize(b.add(b.shift("shl", b.mask(choice, 2), 4), b.const(x, 15)), 64)
        sign = b.resize(b.shift("lshr", data, sign_bit), 1)
        filled = b.select(sign, b.const(x, 255), b.const(x, 0))
        special = b.select(b.compare("ult", choice, b.const(x, 12)), filled, b.const(x, 255))
        special = b.select(b.compare("eq", choice, b.const(x, 12)), b.const(x, 0), special)
        byte = b.select(b.compare("ult", choice, b.const(x, 8)), plain, special)
        result = b.or_(result, b.shift("shl", byte, 8 * position))
    return result


def _known_bytes(b: Arithmetic, sources: tuple[Value, Value], choices: bytes) -> Value:
    """Pick bytes by a known selector: shifts of the sources, with a mask for the bytes that come
    from each."""
    ones, masks = 0, dict[tuple[int, int], int]()
    for position, choice in enumerate(choices):
        byte = 0xFF << 8 * position
        if choice > 12:
            ones |= byte
        elif choice < 8:
            moved = (choice >> 2, 8 * (position - (choice & 3)))
            masks[moved] = masks.get(moved, 0) | byte
        elif choice < 12:
            moved = (choice >> 1 & 1, 32 + 16 * (choice & 1))
            masks[moved] = masks.get(moved, 0) | byte
    result = b.const(sources[0], ones)
    for (source, distance), mask in masks.items():
        part = b.and_(_moved(b, sources[source], distance), b.const(result, mask))
        result = part if b.known(result) == 0 else b.or_(result, part)
    return result


def _moved(b: Arithmetic, value: Value, distance: int) -> Value:
    """Shift left by `distance` bits, or right if it is negative; 32 and 48 fill with the sign of
    the lower and upper half."""
    if distance >= 32:
        return b.shift("ashr", b.shift("shl", value, 16) if distance == 32 else value, 31)
    if not distance:
        return value
    return b.shift("shl", value, distance) if distance > 0 else b.shift("lshr", value, -distance)


def sum_of_differences(bits: int, high: bool = False) -> Expression:
    """Add the absolute differences of unsigned parts of x and y to z (V_SAD_*)."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        total = b.const(x, 0)
        for start in range(0, 32, bits):
            left, right = (b.mask(b.shift("lshr", v, start), bits) for v in (x, y))
            total = b.add(
                total, b.sub(b.intrinsic("umax", left, right), b.intrinsic("umin", left, right))
            )
        return b.add(b.shift("shl", total, 16) if high else total, z)

    return expression


def saturating(operation: str) -> Expression:
    """Return the expression of a saturating intrinsic (`uadd`, `ssub`, ...)."""
    return intrinsic(f"{operation}.sat")


def saturating_wide_mad(signed: bool, bits: int) -> Expression:
    """Multiply operands of `bits` and add 32 bits, saturated to 32 bits."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        factors = [b.resize(b.resize(v, bits), 64, signed) for v in (x, y)]
        total = b.add(b.mul(factors[0], factors[1]), b.resize(z, 64, signed))
        if not signed:
            return b.resize(b.intrinsic("umin", total, b.const(total, 0xFFFFFFFF)), 32)
        limited = b.intrinsic("smin", total, b.const(total, 0x7FFFFFFF))
        return b.resize(b.intrinsic("smax", limited, b.const(total, -0x80000000)), 32)

    return expression


def saturating_differences(bits: int, high: bool = False) -> Expression:
    """Return the sum of absolute differences plus z, saturated."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        return b.intrinsic("uadd.sat", sum_of_differences(bits, high)(b, x, y, b.const(z, 0)), z)

    return expression


def saturating_mad(signed: bool) -> Expression:
    """Return x * y + z, saturated to the operands' width."""

    def expression(b: Arithmetic, x: Value, y: Value, z: Value) -> Value:
        width = bits_of(x.type)
        wide = [b.resize(v, 2 * width + 2, signed) for v in (x, y, z)]
        total = b.add(b.mul(wide[0], wide[1]), wide[2])
        top = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
        limited = b.intrinsic("smin" if signed else "umin", total, b.const(total, top))
        if signed:
            limited = b.intrinsic("smax", limited, b.const(total, -top - 1))
        return b.resize(limited, width)

    return expression


def next_random(b: Arithmetic, state: Value) -> Value:
    """Return the pseudo-random number after `state` (CDNA 4 ISA, V_PRNG_B32)."""
    top = b.shift("ashr", state, 31)
    return b.xor(b.shift("shl", state, 1), b.and_(top, b.const(top, 197)))


def unsigned_byte(index: int) -> Expression:
    """Convert byte `index` of a dword to single precision."""

    def expression(b: Arithmetic, x: Value) -> Value:
        return b.convert("uitofp", b.mask(b.shift("lshr", x, 8 * index), 8), "float")

    return expression
