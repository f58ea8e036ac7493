"""Sums of products by the rules of `isa.matrix_rounding`, bit for bit, in NumPy over whole arrays.

This is the reference of all matrix and dot instructions of floats; `quick_sums` computes the usual
case of gfx12 in fewer operations. Here k is the first axis of factors: those of A are [k, ..., m,
1], those of B [k, ..., 1, n]; C and results are [..., m, n].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from amdjit.intrinsics.models.exact_sums import fused_f32, fused_f64, sum_rounded_once
from amdjit.isa.matrix_rounding import FORMATS, GridRule, RoundedRule, Rule

__all__ = ["LARGEST_HALF", "NAN_SCALE", "multiply_accumulate", "order_of"]

Array = np.ndarray[Any, Any]
Factors = tuple[Array, ...]

# What a scale that is NaN adds to exponents: more than every other one.
NAN_SCALE = 1 << 10
LARGEST_HALF = 65504.0
_NONE = -(1 << 20)  # the exponent of what is 0: below all others
_SMALLEST = 2.0**-126
# A step computes about so many products at a time, so that its data stay in a core's cache.
_AT_ONCE, _ROWS, _SPARSE_ROWS = 1 << 15, 64, 16


def multiply_accumulate(
    rule: Rule,
    a: Array,
    b: Array,
    c: Array,
    kinds: tuple[str, str, str],
    *,
    places: Array | None = None,
    shifts: tuple[Array, Array] | None = None,
    fp16_ovfl: bool = False,
) -> Array:
    """Return c + a b by a rule, in c's type.

    a: [..., m, k], b: [..., k, n], c: [..., m, n]; kinds: the names of their types in `FORMATS`.
    places: which row of b each element of a sparse a [m, k] is multiplied with. shifts: what scales
    add to the exponents of a and of b, in their shapes; `NAN_SCALE` makes a number NaN. fp16_ovfl:
    the bit of MODE under which sums that overflow f16 become its largest number.
    """
    if rule.order != "ascending":
        order = order_of(rule.order, a.shape[-1])
        a, b = a[..., order], b[..., order, :]
    adder = _Grids(rule, kinds, fp16_ovfl) if isinstance(rule, GridRule) else _Floats(rule, kinds)
    with np.errstate(all="ignore"):
        left, right = (
            adder.factors(*_along_first(each, kind, axis, shift))
            for each, kind, axis, shift in zip(
                (a, b), kinds, (-1, -2), shifts or (None, None), strict=False
            )
        )
        total = adder.started(c)
        for own, beside in _tiles(c.shape, min(rule.step, a.shape[-1]), places is not None):
            part = np.ascontiguousarray(total[..., own, beside])
            for first in range(0, a.shape[-1], rule.step):
                k = slice(first, first + rule.step)
                x = tuple(each[k, ..., own, :] for each in left)
                if places is None:
                    y = tuple(each[k, ..., beside] for each in right)
                else:
                    y = tuple(each[places[own, k].T, 0, beside] for each in right)
                part = adder.step(x, y, part)
            total[..., own, beside] = part
        return adder.finished(total).view(c.dtype)


def _tiles(shape: tuple[int, ...], step: int, is_sparse: bool) -> Iterator[tuple[slice, slice]]:
    """Yield the rows and columns that are computed at a time."""
    height = _SPARSE_ROWS if is_sparse else _ROWS
    width = max(16, _AT_ONCE // height // step)
    for row in range(0, shape[-2], height):
        for column in range(0, shape[-1], width):
            yield slice(row, row + height), slice(column, column + width)


def order_of(order: str, depth: int) -> Array:
    """Return k in the order in which it is added: see `GridRule.order`."""
    k = np.arange(depth)
    if order == "descending":
        return k[::-1].copy()
    if order == "even, odd":
        return np.concatenate([k[::2], k[1::2]])
    if order.startswith("halves by"):
        run = int(order.rpartition(" ")[2])
        half = depth // 2
        if half % run or not half:
            return k
        return k.reshape(2, half // run, run).transpose(1, 0, 2).reshape(-1)
    return k


def _along_first(
    numbers: Array, kind: str, axis: int, shift: Array | None
) -> tuple[Array, str, Array | None]:
    """Return factors as f64, with what is to be added to their exponents; k is the first axis."""
    if kind == "xf32":
        mask = np.uint32(-1 << FORMATS[kind].ignored_bits & 0xFFFFFFFF)
        cut = (np.ascontiguousarray(numbers).view(np.uint32) & mask).view(np.float32)
        numbers = np.where(np.isnan(numbers), numbers, cut)
    values, moved = (
        None if each is None else np.expand_dims(np.moveaxis(each, axis, 0), axis)
        for each in (numbers.astype(np.float64), shift)
    )
    assert values is not None
    return values, kind, moved


@dataclass(frozen=True, slots=True)
class _Grids:
    """Steps of a `GridRule`. C and results are bits of the type `state`. Factors are values as f64,
    signs, and significands, with the signs, in units of 2**last."""

    rule: GridRule
    kinds: tuple[str, str, str]
    fp16_ovfl: bool

    @property
    def state(self) -> str:
        """The type to which a step rounds: the result's, or f32."""
        return "f32" if self.rule.final_only else self.kinds[2]

    @property
    def fraction_bits(self) -> int:
        """Bits of a product's fraction."""
        return sum(FORMATS[each].counted_bits for each in self.kinds[:2])

    def factors(self, values: Array, kind: str, shift: Array | None) -> Factors:
        """Take factors apart."""
        form = FORMATS[kind]
        if self.rule.flushes_factors:
            tiny = np.abs(values) < 2.0**form.lowest
            values = np.where(tiny, np.copysign(0.0, values), values)
        finite = np.where(np.isfinite(values), values, 0.0)
        last = np.maximum(np.frexp(finite)[1] - 1, form.lowest).astype(np.int64) - form.counted_bits
        significand = np.ldexp(finite, -last).astype(np.int64)
        if shift is not None:
            values = np.where(shift == NAN_SCALE, np.nan, values)
            last = last + shift
        return values, np.signbit(values), significand, np.where(significand == 0, _NONE, last)

    def started(self, c: Array) -> Array:
        """Return C as bits of the state."""
        held = np.ascontiguousarray(c if self.state == self.kinds[2] else c.astype(np.float32))
        return held.view(f"u{held.dtype.itemsize}").copy()

    def finished(self, total: Array) -> Array:
        """Return the results' bits."""
        rule, result = self.rule, self.kinds[2]
        if self.state != result and result == "f16":
            total = total.view(np.float32).astype(np.float16).view(np.uint16)
        elif self.state != result:
            total = _narrowed(total, rule.narrowing)
        if rule.specials.canonical is None:
            return total
        nan = rule.specials.nan(rule.specials.canonical, result)
        return np.where(_is_nan(total, result), total.dtype.type(nan), total)

    def step(self, left: Factors, right: Factors, added: Array) -> Array:
        """Return C plus the products of a step."""
        rule, form = self.rule, FORMATS[self.state]
        product, last = left[2] * right[2], left[3] + right[3]
        is_negative, size, exponent = self._accumulator(added)
        members = rule.members(len(product))
        tops = [self._top(product[each], last[each]) for each in members]
        top, c_top = _largest(tops), exponent
        if not (rule.c_floor or self.state == "f16"):
            leading = exponent - form.fraction_bits + _leading(size)
            c_top = np.where(size == 0, _NONE, leading)
        highest = np.maximum(top, c_top)
        if rule.c_bits is None:
            grid = np.maximum(top - rule.sum_bits, c_top - rule.c_sum_bits)
        else:
            grid = highest - rule.sum_bits
        c_last = exponent - form.fraction_bits
        if rule.relative:
            opposes = (left[1] != right[1]) != is_negative
            units = self._relative(
                product, last, opposes=opposes, size=size, c_last=c_last, grid=grid
            )
            units = np.where((size == 0) & (top < _NONE // 2), 0, units)
            units = np.where(is_negative, -units, units)
        else:
            units = self._products(product, last, members, tops, grid)
            if rule.c_drops is not None:
                size = np.where(c_top < highest - rule.c_drops, 0, size)
            units = units + self._own(np.where(is_negative, -size, size), c_last, highest, grid)
        total = self._rounded(units, grid, is_negative)
        if self._is_special(left, right, added):
            decided, bits = self._decided(left, right, added)
            total = np.where(decided, bits, total)
        return total

    def _accumulator(self, added: Array) -> tuple[Array, Array, Array]:
        """Return whether C is negative, its significand, and its exponent as encoded."""
        form = FORMATS[self.state]
        wide = added.astype(np.int64)
        field = wide >> form.fraction_bits & form.top
        size = wide & (1 << form.fraction_bits) - 1
        if self.rule.flushes_c:
            size = np.where(field > 0, size | 1 << form.fraction_bits, 0)
        else:
            size |= np.minimum(field, 1) << form.fraction_bits
        return wide >> form.bits - 1 > 0, size, np.maximum(field, 1) - form.bias

    def _top(self, product: Array, last: Array) -> Array:
        """Return the largest exponent of products."""
        if self.rule.exponents == "leading":
            return np.asarray((last + _leading(product)).max(axis=0))
        return np.asarray(last.max(axis=0)) + self.fraction_bits

    def _raised(self, grid_bits: int) -> int:
        """Return how far products are to be shifted left so that none needs it on a grid that is so
        far below their exponents."""
        return grid_bits - (0 if self.rule.exponents == "leading" else self.fraction_bits)

    def _products(
        self, product: Array, last: Array, members: list[slice], tops: list[Array], grid: Array
    ) -> Array:
        """Return the sum of the products on the final grid."""
        rule = self.rule
        raised, more = self._raised(rule.product_bits), max(rule.sum_bits - rule.product_bits, 0)
        found, highest = [], _largest(tops)
        for each, top in zip(members, tops, strict=True):
            distance = top + (raised - rule.product_bits) - last[each]
            units = _cut(product[each], raised, distance, rule.cut).sum(axis=0)
            if rule.groups_meet:
                found.append(_cut(units, 0, highest - top))
            else:
                found.append(_cut(units, more, grid - top + (rule.product_bits + more)))
        total = sum(found[1:], found[0])
        if not rule.groups_meet:
            return total
        return _cut(total, more, grid - highest + (rule.product_bits + more))

    def _own(self, significand: Array, last: Array, highest: Array, grid: Array) -> Array:
        """Return C on the final grid."""
        rule = self.rule
        coarse, raised = grid, rule.c_sum_bits
        if rule.c_bits is not None:
            coarse, raised = highest - rule.c_bits, rule.c_bits
        distance = coarse + raised - last
        units = _cut(significand, raised, distance, rule.c_cut)
        if rule.c_exception:
            vanished = (significand < 0) & (_cut(-significand, raised, distance) == 0)
            units = np.where(vanished & (coarse > FORMATS[self.state].lowest), 0, units)
        more = 0 if rule.c_bits is None else rule.sum_bits - rule.c_bits
        return units << more if more >= 0 else units >> -more

    def _relative(
        self, product: Array, last: Array, opposes: Array, size: Array, c_last: Array, grid: Array
    ) -> Array:
        """Return the sum in C's sign, opposing terms as one's complements."""
        raised, c_raised = self._raised(self.rule.sum_bits), self.rule.c_sum_bits
        sizes = _cut(np.abs(product), raised, grid + raised - last)
        terms = np.where(opposes, ~sizes, sizes).sum(axis=0)
        return terms + _cut(size, c_raised, grid + c_raised - c_last)

    def _rounded(self, units: Array, grid: Array, is_negative: Array) -> Array:
        """Return units of 2**grid as bits of the state. is_negative: where C is."""
        rule, state = self.rule, self.state
        if rule.kept is not None:
            leading = np.maximum(grid + _leading(units), FORMATS["f32"].lowest)
            cut = np.clip(leading - rule.kept - grid, 0, 62)
            units = units >> cut << cut
        kind = "f16" if state == "f16" else "f32"
        if rule.rounding == "nearest even":
            # Exact: units have fewer than 53 bits.
            sums = units * _power(grid)
            bits = _nearest(sums, kind, self.fp16_ovfl, rule.flushes_result)
        else:
            bits = _rounded_otherwise(units, grid, kind, rule.rounding)
            if rule.flushes_result:
                bits = np.where(bits >> FORMATS[kind].fraction_bits & FORMATS[kind].top, bits, 0)
        sign = 1 << FORMATS[kind].bits - 1
        if not rule.vanishing_sign:
            bits = np.where(bits == sign, bits.dtype.type(0), bits)
        if rule.negative_zero:
            bits = np.where((units == 0) & is_negative, bits.dtype.type(sign), bits)
        return _narrowed(bits, rule.narrowing) if state == "bf16" else bits

    def _is_special(self, left: Factors, right: Factors, added: Array) -> bool:
        """Return whether NaN or infinities may decide some sums."""
        infinity = FORMATS[self.state].infinity
        if not all(np.isfinite(each[0]).all() for each in (left, right)):
            return True
        if self.rule.specials.overflow and self._exceeds(left[3].max() + right[3].max()):
            return True
        return bool(((added & infinity) == infinity).any())

    def _exceeds(self, last: int) -> bool:
        """Return whether a product whose last bit is that one may be 2**128 or more."""
        return last + self.fraction_bits + 2 > 128

    def _decided(self, left: Factors, right: Factors, added: Array) -> tuple[Array, Array]:
        """Return which sums NaN and infinities decide, and their bits."""
        specials, kind = self.rule.specials, self.state
        x, y = left[0], right[0]
        factor_nan = np.asarray((np.isnan(x) | np.isnan(y)).any(axis=0))
        infinite = np.isinf(x) | np.isinf(y)
        invalid = np.asarray((infinite & ((x == 0) | (y == 0))).any(axis=0))
        if specials.overflow:
            product = np.abs(left[2] * right[2])
            infinite = infinite | ((product > 0) & (_leading(product) + left[3] + right[3] >= 128))
        negative = left[1] != right[1]
        form = FORMATS[kind]
        size, infinity = added & (1 << form.bits - 1) - 1, form.top << form.fraction_bits
        own_nan, own_infinite, own_negative = size > infinity, size == infinity, size != added
        plus = (infinite & ~negative).any(axis=0)
        minus = (infinite & negative).any(axis=0)
        invalid |= plus & minus
        plus, minus = plus | own_infinite & ~own_negative, minus | own_infinite & own_negative
        bits = np.where(minus, infinity | 1 << form.bits - 1, infinity)
        bits = np.where(plus & minus, specials.nan(specials.invalid, kind), bits)
        quiet = added | 1 << form.fraction_bits - 1 if specials.quiets else added
        for where, nan in self._in_order(factor_nan, invalid, own_nan, quiet):
            bits = np.where(where, nan, bits)
        return factor_nan | invalid | plus | minus | own_nan, bits.astype(added.dtype)

    def _in_order(
        self, factor_nan: Array, invalid: Array, own_nan: Array, own: Array
    ) -> list[tuple[Array, Any]]:
        """Return the kinds of NaN, the one that wins last."""
        specials, kind = self.rule.specials, self.state
        factors = (factor_nan, specials.nan(specials.factor_nan, kind))
        broken, added = (invalid, specials.nan(specials.invalid, kind)), (own_nan, own)
        if specials.first == "c":
            return [broken, factors, added]
        return [added, broken, factors] if specials.invalid_first else [broken, added, factors]


def _largest(arrays: list[Array]) -> Array:
    found = arrays[0]
    for each in arrays[1:]:
        found = np.maximum(found, each)
    return found


def _leading(units: Array) -> Array:
    """Return the place of the first bit of integers, 0 of 0."""
    return np.maximum(np.frexp(np.abs(units).astype(np.float64))[1] - 1, 0)


def _power(exponent: Array) -> Array:
    """Return 2**exponent as f64, for what is not 0."""
    return (np.maximum(exponent, -1000) + 1023 << 52).view(np.float64)


def _cut(units: Array, raised: int, distance: Array, how: str = "floor") -> Array:
    """Return integers shifted left by `raised`, then right by a distance: see `GridRule.cut`."""
    right = np.minimum(distance, 62)
    if how == "truncation":
        size = np.abs(units) << raised >> right
        return np.where(units < 0, -size, size)
    whole = units << raised
    lower: Array = whole >> right
    if how == "nearest":
        rest = whole - (lower << right)
        half = (np.int64(1) << np.maximum(right, 1)) >> 1
        up = (rest > half) | ((rest == half) & (lower & 1 == 1))
        lower = lower + np.where(up & (right > 0), 1, 0)
    return lower


def _nearest(sums: Array, kind: str, fp16_ovfl: bool, flushes: bool) -> Array:
    """Return f64 numbers rounded to f16 or f32, to the nearest, ties to even, as bits. flushes:
    whether results below the normal range, as if exponents had no end, are 0."""
    if kind == "f16" and fp16_ovfl:
        sums = np.clip(sums, -LARGEST_HALF, LARGEST_HALF)
    if flushes:
        form = FORMATS[kind]
        smallest = 2.0**form.lowest
        # The least magnitude that rounds up to the smallest normal number.
        up = smallest - 2.0 ** (form.lowest - form.fraction_bits - 2)
        size = np.abs(sums)
        tiny = np.where(size >= up, np.copysign(smallest, sums), 0.0)
        sums = np.where(size < smallest, tiny, sums)
    if kind == "f16":
        return np.asarray(sums.astype(np.float16)).view(np.uint16)
    return np.asarray(sums.astype(np.float32)).view(np.uint32)


def _rounded_otherwise(units: Array, grid: Array, kind: str, mode: str) -> Array:
    """Return units of 2**grid rounded "nearest away", by "truncation" or to the "floor", as bits of
    f16 or f32, with gradual underflow."""
    form = FORMATS[kind]
    size = np.abs(units)
    last = np.maximum(_leading(size) + grid, form.lowest) - form.fraction_bits
    cut = np.clip(last - grid, 0, 62)
    whole = np.where(last > grid, size >> cut, size << np.clip(grid - last, 0, 60))
    rest = size - (whole << cut)
    up = np.zeros(rest.shape, bool)
    if mode == "nearest away":
        up = rest >= (np.int64(1) << np.maximum(cut, 1)) >> 1
    elif mode == "floor":
        up = (rest > 0) & (units < 0)
    whole = whole + (up & (last > grid))
    # A carry out of the fraction goes on into the exponent.
    code = whole + (last + form.fraction_bits - form.lowest << form.fraction_bits)
    infinity = form.top << form.fraction_bits
    code = np.where(code >= infinity, infinity - (mode == "truncation"), code)
    code = np.where(units == 0, 0, code | (units < 0).astype(np.int64) << form.bits - 1)
    return code.astype(f"u{form.bits // 8}")


def _narrowed(bits: Array, narrowing: str) -> Array:
    """Return bits of f32 as those of bf16."""
    if narrowing == "nearest":
        bits = bits + np.uint32(0x7FFF) + (bits >> 16 & 1)
    return (bits >> 16).astype(np.uint16)


def _is_nan(bits: Array, kind: str) -> Array:
    form = FORMATS[kind]
    return np.asarray((bits & (1 << form.bits - 1) - 1) > form.top << form.fraction_bits)


@dataclass(frozen=True, slots=True)
class _Floats:
    """Steps of a `RoundedRule`. C and results are f32, or f64; factors are f64."""

    rule: RoundedRule
    kinds: tuple[str, str, str]

    def factors(self, values: Array, kind: str, shift: Array | None) -> Factors:
        """Return the factors as they count."""
        if self.rule.flushes_factors:
            values = np.where(np.abs(values) < 2.0 ** FORMATS[kind].lowest, 0.0, values)
        if shift is not None:
            scaled = np.ldexp(values, shift)
            values = np.where(shift == NAN_SCALE, np.nan, scaled)
        return (values,)

    def started(self, c: Array) -> Array:
        """Return C as the steps take it."""
        return np.array(c, np.float64 if self.kinds[2] == "f64" else np.float32)

    def finished(self, total: Array) -> Array:
        """Return the results' bits."""
        is_nan, result = np.isnan(total), self.kinds[2]
        if result == "f64":
            return np.where(is_nan, np.nan, total).view(np.uint64)
        if result == "f16":
            return np.where(is_nan, np.uint16(0x7E00), total.astype(np.float16).view(np.uint16))
        bits = np.where(is_nan, np.uint32(self.rule.nan), total.view(np.uint32))
        if result == "f32":
            return bits
        return np.where(is_nan, _narrowed(bits, "truncation"), _narrowed(bits, "nearest"))

    def step(self, left: Factors, right: Factors, added: Array) -> Array:
        """Return C plus the products of a step."""
        rule = self.rule
        if rule.flushes_c:
            added = np.where(np.abs(added) < _SMALLEST, added.dtype.type(0), added)
        total = self._sum(left[0], right[0], added)
        if rule.final_only or self.kinds[2] in ("f32", "f64"):
            return total
        return _widened(self.finished(total), self.kinds[2])

    def _sum(self, left: Array, right: Array, total: Array) -> Array:
        rule, is_double = self.rule, total.dtype == np.float64
        if rule.how == "fused":
            for x, y in zip(left, right, strict=True):
                total = fused_f64(x, y, total) if is_double else fused_f32(x, y, total)
                total = self._flushed(total)
            return total
        if is_double:
            for x, y in zip(left, right, strict=True):
                total = total + x * y
            return total
        if rule.how == "exact":
            return self._exact(left, right, total)
        x, y = left.astype(np.float32), right.astype(np.float32)
        products = [self._small_product(a * b) for a, b in zip(x, y, strict=True)]
        if rule.how == "unfused":
            for each in products:
                total = self._flushed(total + each)
            return total
        while len(products) > 1:
            odd = products[-1:] if len(products) % 2 else []
            pairs = zip(products[::2], products[1::2], strict=False)
            products = [self._small_product(a + b) for a, b in pairs] + odd
        return self._flushed(total + products[0])

    def _exact(self, left: Array, right: Array, added: Array) -> Array:
        products, wide = left * right, added.astype(np.float64)
        plain = products.sum(axis=0) + wide
        total = self._flushed(sum_rounded_once([*products, wide]))
        return np.where(np.isfinite(plain), total, plain.astype(np.float32))

    def _small_product(self, numbers: Array) -> Array:
        return _flushed(numbers) if self.rule.flushes_products else numbers

    def _flushed(self, numbers: Array) -> Array:
        return _flushed(numbers) if self.rule.flushes_result else numbers


def _flushed(numbers: Array) -> Array:
    """Return numbers with zeros of their sign instead of subnormal ones."""
    tiny = np.abs(numbers) < _SMALLEST
    return np.where(tiny, np.copysign(numbers.dtype.type(0), numbers), numbers)


def _widened(bits: Array, kind: str) -> Array:
    """Return bits of f16 or bf16 as f32."""
    if kind == "f16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)
