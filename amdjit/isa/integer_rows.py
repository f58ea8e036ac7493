"""Instructions on integers and bits: a row for each, by operation.

    "v_bfe_i32": ix.bfe(signed=True)      src0:i32 src1:i32 src2:i32   ->   expression(b, x, y, z)

How many sources there are, and their types, come from the opcode table (`rows.py`); a mask is an i1
in each lane. Three read them: the emulator executes them, the check for undefined values follows
which bits depend on which, inspection what lanes have in common. Rows of floats, and of what
depends on modifiers, have one reader and stand in the emulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amdjit.isa import integer_expressions as ix
from amdjit.isa.arithmetic import Arithmetic, Value, bits_of
from amdjit.isa.instruction import Modifiers
from amdjit.isa.integer_expressions import Expression
from amdjit.late_methods import dataclass

__all__ = [
    "LOGIC",
    "SCALAR_PAIR_ROWS",
    "SCALAR_ROWS",
    "TESTED_SCALAR_ROWS",
    "VECTOR_PAIR_ROWS",
    "VECTOR_ROWS",
    "Pair",
    "PairRow",
    "Row",
    "expression_of",
    "in_range",
    "rows",
]

# The expression of a result and of a second one: carries, or SCC.
Pair = Callable[..., tuple[Value, Value]]


@dataclass(frozen=True, slots=True)
class Row:
    """An instruction with one result.

    clamped: its expression under `clamp`; without it, a float is that of the plain one clamped to
    [0, 1]. scaled: the expression under `omod`, if it rounds differently. unquieted: the expression
    while MODE's IEEE bit is 0, if that makes a difference. limited: the expression while its
    FP16_OVFL is 1, if that makes one; halves are limited after their expression. tiny: where a
    result is below the normal numbers before its exponent is limited, if it may be rounded up to
    the smallest of them. is_raw: whether operands keep their denormals in every mode. packs_halves:
    whether the result is two halves, whose denormals MODE may flush.
    """

    expression: Expression
    clamped: Expression | None = None
    scaled: Expression | None = None
    unquieted: Expression | None = None
    tiny: Expression | None = None
    is_raw: bool = False
    limited: Expression | None = None
    packs_halves: bool = False

    def choose(self, modifiers: Modifiers) -> Expression:
        """Return the expression for an instruction's modifiers."""
        if modifiers.omod and self.scaled is not None:
            return self.scaled
        if modifiers.clamp and self.clamped is not None:
            return self.clamped
        return self.expression


@dataclass(frozen=True, slots=True)
class PairRow:
    """An instruction with a second result. clamped: its expression under `clamp`."""

    expression: Pair
    clamped: Pair | None = None


Rows = Mapping[str, Expression | Row]


def rows(table: Rows) -> dict[str, Row]:
    return {name: row if isinstance(row, Row) else Row(row) for name, row in table.items()}


def in_range(expression: Expression) -> Row:
    """Return the row of a result that cannot leave its type's range: `clamp` changes nothing (RDNA
    4 ISA, 7.2.3.1)."""
    return Row(expression, clamped=expression)


_ADD, _SUB, _MUL = ix.binary("add"), ix.binary("sub"), ix.binary("mul")
_AND, _OR, _XOR = ix.binary("and"), ix.binary("or"), ix.binary("xor")
LOGIC: Mapping[str, Expression] = {
    "and": _AND,
    "or": _OR,
    "xor": _XOR,
    "nand": ix.negated(_AND),
    "nor": ix.negated(_OR),
    "xnor": ix.negated(_XOR),
    "and_not1": ix.and_not,
    "or_not1": ix.or_not,
    "and_not0": ix.reverse(ix.and_not),
    "or_not0": ix.reverse(ix.or_not),
}


def _choose(b: Arithmetic, no: Value, yes: Value, condition: Value) -> Value:
    return b.select(condition, yes, no)


def _pack_halves(b: Arithmetic, low: Value, high: Value) -> Value:
    """Pack two halves; they are read as floats so that inline constants such as -1.0 have that
    format."""
    low, high = (b.resize(b.bitcast(half, "i16"), 32) for half in (low, high))
    return b.or_(low, b.shift("shl", high, 16))


def _saturating_product(signed: bool) -> Expression:
    """Return the low 32 bits of a product of 24-bit numbers, saturated under `clamp` as in
    V_MAD_*24."""
    mad = ix.saturating_wide_mad(signed, 24)
    return lambda b, x, y: mad(b, x, y, b.const(x, 0))


def _shift_and_add(b: Arithmetic, x: Value, amount: Value, z: Value) -> Value:
    """V_LSHL_ADD_U64 shifts by three bits of the amount."""
    return b.add(b.shift("shl", x, b.resize(b.mask(amount, 3), 64)), z)


_BITS: Rows = {
    "v_mov_b32": ix.mov,
    "v_mov_b16": ix.mov,
    "v_not_b32": Arithmetic.not_,
    "v_not_b16": Arithmetic.not_,
    "v_bfrev_b32": ix.intrinsic("bitreverse"),
    "v_clz_i32_u32": ix.count_leading,
    "v_ctz_i32_b32": ix.count_trailing,
    "v_cls_i32": ix.count_sign,
    "v_cndmask_b32": _choose,
    "v_cndmask_b16": _choose,
    "v_and_b32": _AND,
    "v_or_b32": _OR,
    "v_xor_b32": _XOR,
    "v_xnor_b32": ix.negated(_XOR),
    "v_and_b16": _AND,
    "v_or_b16": _OR,
    "v_xor_b16": _XOR,
    "v_lshlrev_b32": ix.reverse(ix.shift("shl")),
    "v_lshrrev_b32": ix.reverse(ix.shift("lshr")),
    "v_ashrrev_i32": ix.reverse(ix.shift("ashr")),
    "v_lshlrev_b16": ix.reverse(ix.shift("shl")),
    "v_lshrrev_b16": ix.reverse(ix.shift("lshr")),
    "v_ashrrev_i16": ix.reverse(ix.shift("ashr")),
    "v_lshlrev_b64": ix.reverse(ix.shift("shl")),
    "v_lshrrev_b64": ix.reverse(ix.shift("lshr")),
    "v_ashrrev_i64": ix.reverse(ix.shift("ashr")),
    "v_bfe_u32": ix.bfe(signed=False),
    "v_bfe_i32": ix.bfe(signed=True),
    "v_bfi_b32": ix.bfi,
    "v_bfm_b32": ix.bfm,
    "v_alignbit_b32": in_range(ix.align(1)),
    "v_alignbyte_b32": in_range(ix.align(8)),
    "v_perm_b32": ix.permute_bytes,
    "v_xor3_b32": ix.chain(_XOR, _XOR),
    "v_or3_b32": ix.chain(_OR, _OR),
    "v_and_or_b32": ix.and_or,
    "v_lshl_or_b32": ix.lshl_or,
    "v_lshl_add_u32": ix.lshl_add,
    "v_add_lshl_u32": ix.add_lshl,
    "v_xad_u32": ix.xad,
    "v_bcnt_u32_b32": ix.bit_count_add,
    "v_prng_b32": ix.next_random,
    "v_pack_b32_f16": _pack_halves,
}

_ARITHMETIC: Rows = {
    "v_add_nc_u32": Row(_ADD, clamped=ix.saturating("uadd")),
    "v_sub_nc_u32": Row(_SUB, clamped=ix.saturating("usub")),
    "v_subrev_nc_u32": Row(ix.reverse(_SUB), clamped=ix.reverse(ix.saturating("usub"))),
    "v_add_nc_i32": Row(_ADD, clamped=ix.saturating("sadd")),
    "v_sub_nc_i32": Row(_SUB, clamped=ix.saturating("ssub")),
    "v_add_nc_u16": Row(_ADD, clamped=ix.saturating("uadd")),
    "v_sub_nc_u16": Row(_SUB, clamped=ix.saturating("usub")),
    "v_add_nc_i16": Row(_ADD, clamped=ix.saturating("sadd")),
    "v_sub_nc_i16": Row(_SUB, clamped=ix.saturating("ssub")),
    "v_add3_u32": ix.chain(_ADD, _ADD),
    "v_mul_lo_u32": _MUL,
    "v_mul_lo_u16": _MUL,
    "v_mul_hi_u32": ix.mul_high(signed=False),
    "v_mul_hi_i32": ix.mul_high(signed=True),
    "v_mul_u32_u24": Row(
        ix.mul_24(signed=False, high=False), clamped=_saturating_product(signed=False)
    ),
    "v_mul_i32_i24": Row(
        ix.mul_24(signed=True, high=False), clamped=_saturating_product(signed=True)
    ),
    "v_mul_hi_u32_u24": ix.mul_24(signed=False, high=True),
    "v_mul_hi_i32_i24": ix.mul_24(signed=True, high=True),
    "v_mad_u32_u24": Row(
        ix.mad_24(signed=False), clamped=ix.saturating_wide_mad(signed=False, bits=24)
    ),
    "v_mad_i32_i24": Row(
        ix.mad_24(signed=True), clamped=ix.saturating_wide_mad(signed=True, bits=24)
    ),
    "v_mad_u16": Row(ix.mad, clamped=ix.saturating_mad(signed=False)),
    "v_mad_i16": Row(ix.mad, clamped=ix.saturating_mad(signed=True)),
    "v_mad_u32_u16": Row(
        ix.mad_wide(signed=False), clamped=ix.saturating_wide_mad(signed=False, bits=16)
    ),
    "v_mad_i32_i16": Row(
        ix.mad_wide(signed=True), clamped=ix.saturating_wide_mad(signed=True, bits=16)
    ),
    "v_sad_u8": Row(ix.sum_of_differences(8), clamped=ix.saturating_differences(8)),
    "v_sad_hi_u8": Row(ix.sum_of_differences(8, True), clamped=ix.saturating_differences(8, True)),
    "v_sad_u16": Row(ix.sum_of_differences(16), clamped=ix.saturating_differences(16)),
    "v_sad_u32": Row(ix.sum_of_differences(32), clamped=ix.saturating_differences(32)),
    "v_cvt_i32_i16": ix.widen(signed=True),
    "v_cvt_u32_u16": ix.widen(signed=False),
}


def _extremes(code: str, low: Expression, high: Expression) -> Rows:
    return {
        f"v_min_{code}": low,
        f"v_max_{code}": high,
        f"v_min3_{code}": in_range(ix.chain(low, low)),
        f"v_max3_{code}": in_range(ix.chain(high, high)),
        f"v_med3_{code}": in_range(ix.median(low, high)),
    }


_SMIN, _SMAX = ix.intrinsic("smin"), ix.intrinsic("smax")
_UMIN, _UMAX = ix.intrinsic("umin"), ix.intrinsic("umax")

# The VALU instructions with one result. What they read of it, they read last.
VECTOR_ROWS: Mapping[str, Row] = rows(
    {
        **_BITS,
        **_ARITHMETIC,
        **_extremes("i16", _SMIN, _SMAX),
        **_extremes("i32", _SMIN, _SMAX),
        **_extremes("u16", _UMIN, _UMAX),
        **_extremes("u32", _UMIN, _UMAX),
        **{f"v_cvt_f32_ubyte{index}": ix.unsigned_byte(index) for index in range(4)},
        "v_mov_b64": ix.mov,
        "v_lshl_add_u64": _shift_and_add,
        # Only gfx9 has it.
        "v_subrev_u16": Row(ix.reverse(_SUB), clamped=ix.reverse(ix.saturating("usub"))),
        "v_maxmin_i32": ix.chain(_SMAX, _SMIN),
        "v_minmax_i32": ix.chain(_SMIN, _SMAX),
        "v_maxmin_u32": ix.chain(_UMAX, _UMIN),
        "v_minmax_u32": ix.chain(_UMIN, _UMAX),
    }
)


def _sum(operation: str, swap: bool = False) -> Pair:
    """Add or subtract, with the third source if there is one; the second result is the carry."""
    predicate = "ugt" if operation == "sub" else "ult"

    def expression(b: Arithmetic, x: Value, y: Value, *carry: Value) -> tuple[Value, Value]:
        left, right = (y, x) if swap else (x, y)
        total = b.binary(operation, left, right)
        over = b.compare(predicate, total, left)
        for extra in carry:
            before = total
            total = b.binary(operation, before, b.resize(extra, 32))
            over = b.or_(over, b.compare(predicate, total, before))
        return total, over

    return expression


def _sum_row(operation: str, swap: bool = False) -> PairRow:
    plain = _sum(operation, swap)

    def clamped(b: Arithmetic, *operands: Value) -> tuple[Value, Value]:
        total, over = plain(b, *operands)
        limit = b.const(total, 0 if operation == "sub" else -1)
        return b.select(over, limit, total), over

    return PairRow(plain, clamped)


def _wide_mad(b: Arithmetic, x: Value, y: Value, addend: Value) -> tuple[Value, Value]:
    product = b.mul(b.resize(x, 64), b.resize(y, 64))
    total = b.add(product, addend)
    return total, b.compare("ult", total, product)


def _signed_wide_mad(b: Arithmetic, x: Value, y: Value, addend: Value) -> tuple[Value, Value]:
    product = b.mul(b.resize(x, 64, True), b.resize(y, 64, True))
    total = b.add(product, addend)
    # Bit 64 of the exact 65-bit sum.
    ones, none = b.const(total, -1), b.const(total, 0)
    above = b.select(b.compare("ult", total, product), ones, none)
    carry = b.xor(b.xor(product, addend), above)
    return total, b.compare("slt", carry, none)


# The VALU instructions with a lane mask as second result: carries and 64-bit multiply-add.
VECTOR_PAIR_ROWS: Mapping[str, PairRow] = {
    **{
        f"v_{name}_{carry}_u32": _sum_row(operation, swap)
        for carry in ("co", "co_ci")
        for name, operation, swap in (
            ("add", "add", False),
            ("sub", "sub", False),
            ("subrev", "sub", True),
        )
    },
    "v_mad_co_u64_u32": PairRow(_wide_mad),
    "v_mad_co_i64_i32": PairRow(_signed_wide_mad),
}


def _field(signed: bool) -> Expression:
    """Return the bit field of x with the offset in bits 4:0 of y (5:0 for 64 bits) and the width in
    bits 22:16."""

    def expression(b: Arithmetic, x: Value, y: Value) -> Value:
        width = bits_of(x.type)
        offset = b.resize(b.mask(y, 5 if width == 32 else 6), width)
        length = b.resize(b.mask(b.shift("lshr", y, 16), 7), width)
        shifted = b.binary("ashr" if signed else "lshr", x, offset)
        capped = b.intrinsic("umin", length, b.const(x, width))
        return _keep_low(b, shifted, capped, signed)

    return expression


def _keep_low(b: Arithmetic, value: Value, length: Value, signed: bool) -> Value:
    width = bits_of(value.type)
    empty = b.compare("eq", length, b.const(value, 0))
    spare = b.mask(b.sub(b.const(value, width), length), 5 if width == 32 else 6)
    high = b.binary("shl", value, spare)
    kept = b.binary("ashr" if signed else "lshr", high, spare)
    return b.select(empty, b.const(value, 0), kept)


def _set_bit(value: int) -> Expression:
    def expression(b: Arithmetic, position: Value, old: Value) -> Value:
        bit = b.shift("shl", b.const(old, 1), b.resize(position, bits_of(old.type)))
        return b.or_(old, bit) if value else b.and_(old, b.not_(bit))

    return expression


def _zero_count(b: Arithmetic, x: Value) -> Value:
    return ix.bit_count(b, b.not_(x))


def _first_zero(b: Arithmetic, x: Value) -> Value:
    return ix.count_trailing(b, b.not_(x))


def _replicate(b: Arithmetic, x: Value) -> Value:
    """Return each bit of a dword twice."""
    wide = b.resize(x, 64)
    for amount, kept in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        wide = b.and_(b.or_(wide, b.shift("shl", wide, amount)), b.const(wide, kept))
    return b.or_(wide, b.shift("shl", wide, 1))


def _quads(whole: bool) -> Expression:
    """For each four bits that are not all 0, set one bit (quadmask) or all four (wqm)."""

    def expression(b: Arithmetic, x: Value) -> Value:
        width = bits_of(x.type)
        pairs = b.or_(x, b.shift("lshr", x, 1))
        quads = b.or_(pairs, b.shift("lshr", pairs, 2))
        ones = b.and_(quads, b.const(x, int("1" * (width // 4), 16)))
        if whole:
            return b.mul(ones, b.const(x, 15))
        result = b.const(x, 0)
        for index in range(width // 4):
            bit = b.and_(b.shift("lshr", ones, 3 * index), b.const(x, 1 << index))
            result = b.or_(result, bit)
        return result

    return expression


def _wide_mask(b: Arithmetic, x: Value, y: Value) -> Value:
    return ix.bfm(b, b.resize(b.mask(x, 6), 64), b.resize(y, 64))


# The SALU instructions with one result. Of these, SCC becomes whether the result is not 0;
TESTED_SCALAR_ROWS: Mapping[str, Expression] = {
    **{
        f"s_{name}_b{width}": expression
        for name, expression in LOGIC.items()
        for width in (32, 64)
        if not name.endswith("not0")
    },
    "s_not_b32": Arithmetic.not_,
    "s_not_b64": Arithmetic.not_,
    "s_lshl_b32": ix.shift("shl"),
    "s_lshl_b64": ix.shift("shl"),
    "s_lshr_b32": ix.shift("lshr"),
    "s_lshr_b64": ix.shift("lshr"),
    "s_ashr_i32": ix.shift("ashr"),
    "s_ashr_i64": ix.shift("ashr"),
    "s_bfe_u32": _field(signed=False),
    "s_bfe_i32": _field(signed=True),
    "s_bfe_u64": _field(signed=False),
    "s_bfe_i64": _field(signed=True),
    "s_bcnt0_i32_b32": _zero_count,
    "s_bcnt0_i32_b64": _zero_count,
    "s_bcnt1_i32_b32": ix.bit_count,
    "s_bcnt1_i32_b64": ix.bit_count,
    "s_quadmask_b32": _quads(whole=False),
    "s_quadmask_b64": _quads(whole=False),
    "s_wqm_b32": _quads(whole=True),
    "s_wqm_b64": _quads(whole=True),
    "s_abs_i32": ix.absolute,
    "s_absdiff_i32": ix.absolute_difference,
}

# these leave SCC as it is.
SCALAR_ROWS: Mapping[str, Expression] = {
    "s_bfm_b32": ix.bfm,
    "s_bfm_b64": _wide_mask,
    "s_mov_b32": ix.mov,
    "s_mov_b64": ix.mov,
    "s_brev_b32": ix.intrinsic("bitreverse"),
    "s_brev_b64": ix.intrinsic("bitreverse"),
    "s_ctz_i32_b32": ix.count_trailing,
    "s_ctz_i32_b64": ix.count_trailing,
    "s_ff0_i32_b32": _first_zero,
    "s_ff0_i32_b64": _first_zero,
    "s_clz_i32_u32": ix.count_leading,
    "s_clz_i32_u64": ix.count_leading,
    "s_cls_i32": ix.count_sign,
    "s_cls_i32_i64": ix.count_sign,
    "s_sext_i32_i8": ix.extend(8, signed=True),
    "s_sext_i32_i16": ix.widen(signed=True),
    "s_bitset0_b32": _set_bit(0),
    "s_bitset0_b64": _set_bit(0),
    "s_bitset1_b32": _set_bit(1),
    "s_bitset1_b64": _set_bit(1),
    "s_bitreplicate_b64_b32": _replicate,
    "s_pack_ll_b32_b16": ix.pack(high_x=False, high_y=False),
    "s_pack_lh_b32_b16": ix.pack(high_x=False, high_y=True),
    "s_pack_hl_b32_b16": ix.pack(high_x=True, high_y=False),
    "s_pack_hh_b32_b16": ix.pack(high_x=True, high_y=True),
    "s_mul_i32": _MUL,
    "s_mul_hi_u32": ix.mul_high(signed=False),
    "s_mul_hi_i32": ix.mul_high(signed=True),
    "s_mul_u64": _MUL,
    "s_add_nc_u64": _ADD,
    "s_sub_nc_u64": _SUB,
}


def _signed_sum(operation: str) -> Pair:
    """Add or subtract; SCC is whether the result leaves the range of signed numbers."""

    def expression(b: Arithmetic, x: Value, y: Value) -> tuple[Value, Value]:
        result = b.binary(operation, x, y)
        other = b.not_(y) if operation == "sub" else y
        both = b.and_(b.xor(result, x), b.xor(result, other))
        return result, b.compare("slt", both, b.const(x, 0))

    return expression


def _beyond(b: Arithmetic, total: Value) -> tuple[Value, Value]:
    """The low 32 bits of a sum, and whether others are set."""
    return b.resize(total, 32), b.compare("ugt", total, b.const(total, 0xFFFFFFFF))


def _carried(operation: str) -> Pair:
    def expression(b: Arithmetic, x: Value, y: Value, carry: Value) -> tuple[Value, Value]:
        left, right, extra = (b.resize(value, 64) for value in (x, y, carry))
        return _beyond(b, b.binary(operation, b.binary(operation, left, right), extra))

    return expression


def _shift_add(count: int) -> Pair:
    def expression(b: Arithmetic, x: Value, y: Value) -> tuple[Value, Value]:
        return _beyond(b, b.add(b.shift("shl", b.resize(x, 64), count), b.resize(y, 64)))

    return expression


def _select_first(predicate: str) -> Pair:
    """Minimum or maximum; SCC becomes whether the first operand was chosen."""

    def expression(b: Arithmetic, x: Value, y: Value) -> tuple[Value, Value]:
        first = b.compare(predicate, x, y)
        return b.select(first, x, y), first

    return expression


# The SALU instructions whose second result is SCC; where they read it, it is the last operand.
SCALAR_PAIR_ROWS: Mapping[str, Pair] = {
    "s_add_co_u32": _sum("add"),
    "s_sub_co_u32": _sum("sub"),
    "s_add_co_i32": _signed_sum("add"),
    "s_sub_co_i32": _signed_sum("sub"),
    "s_add_co_ci_u32": _carried("add"),
    "s_sub_co_ci_u32": _carried("sub"),
    **{f"s_lshl{count}_add_u32": _shift_add(count) for count in (1, 2, 3, 4)},
    "s_min_i32": _select_first("slt"),
    "s_max_i32": _select_first("sge"),
    "s_min_u32": _select_first("ult"),
    "s_max_u32": _select_first("uge"),
}


def expression_of(
    operation: str, clamps: bool = False
) -> Callable[..., Value | tuple[Value, Value]] | None:
    """Return the expression of an instruction that has a row here, under `clamp` if asked for."""
    row = VECTOR_ROWS.get(operation) or VECTOR_PAIR_ROWS.get(operation)
    if row is not None:
        return (clamps and row.clamped) or row.expression
    one = SCALAR_ROWS.get(operation) or TESTED_SCALAR_ROWS.get(operation)
    return one or SCALAR_PAIR_ROWS.get(operation)
