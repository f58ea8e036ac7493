"""The native functions of MFMA and SMFMAC: a product of registers in memory.

A and B become panels of factors, C rows of sums; a loop over tiles of 16 columns has one over steps
along k, and that one over the rows of a tile. Where a rule has a quick form, it is used if all
operands are ordinary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce

from amdjit.emulator.host.builder import Value, constant, lanes_of, vector
from amdjit.emulator.host.function import NativeFunction, i64
from amdjit.emulator.instructions.matrix.cdna.grid_rules import Grid, QuickGrid, RunningBounds
from amdjit.emulator.instructions.matrix.cdna.panels import (
    INTEGERS,
    Panel,
    Sums,
    copy_registers,
    each_register,
    each_row,
)
from amdjit.emulator.instructions.matrix.cdna.products import ROW_LANES, Mfma, products
from amdjit.emulator.instructions.matrix.cdna.rules import (
    Chain,
    Exact,
    Integers,
    Pairs,
    Rule,
    numbers,
)
from amdjit.emulator.instructions.matrix.dot_factors import FactorPair
from amdjit.emulator.instructions.matrix.loops import Loop
from amdjit.emulator.instructions.matrix.quick_steps import Bounds
from amdjit.isa.matrix_rounding import GridRule, RoundedRule
from amdjit.late_methods import dataclass

_DOUBLE_NAN = 0x7FF8000000000000
# How many products one turn of a loop adds: as long as B's columns fit host registers.
_MOST_INTEGERS, _LONGEST_CHAIN = 32, 8


def parameters_of(product: Mfma) -> list[tuple[str, str]]:
    """Return the parameters of a product's function.

    `ptr d, d_upper, a, a_upper, b, b_upper, c, c_upper`: registers of the lower and the upper half
    of the wave. `i64 stride`: bytes between elements of C, 0 for a constant. Of a sparse A: `ptr
    index, index_upper, i32 set`. Others: `i32 rows`, for each row of 16 lanes two bits that say
    whose B it multiplies; `i32 keep, block`, the block of A for a block of B is `number & keep |
    block`; of f64, `i32 signs`, a bit each to negate A, B and C.
    """
    names = ["d", "a", "b", "c", *(["index"] if product.sparse else [])]
    found = [("ptr", name + half) for name in names for half in ("", "_upper")]
    found.append(("i64", "stride"))
    if product.sparse:
        return [*found, ("i32", "set")]
    found += [("i32", "rows"), ("i32", "keep"), ("i32", "block")]
    return [*found, ("i32", "signs")] if product.is_double else found


def rule_of(product: Mfma, arithmetic: str) -> tuple[QuickGrid | None, Rule]:
    """Return the rule by which a product adds, before it the one for ordinary operands."""
    kind, held = product.a, product.held
    if product.is_integer:
        return None, Integers(min(held, _MOST_INTEGERS))
    grid = product.rule
    if arithmetic != "silicon" or (isinstance(grid, RoundedRule) and grid.how == "fused"):
        return None, Chain(product.is_double, min(held, _LONGEST_CHAIN))
    if isinstance(grid, GridRule):
        pair = FactorPair(kind, product.b, grid)
        return QuickGrid(kind, product.b, grid), Grid(pair, product.result)
    return None, Exact(grid.step) if grid.how == "exact" else Pairs(kind, grid.step)


def mfma_text(product: Mfma, arithmetic: str, attributes: str) -> str:
    """Return the definition of a product's function."""
    f = NativeFunction(product.symbol, "void", parameters_of(product))
    quick, rule = rule_of(product, arithmetic)
    sums = Sums.load(f, product, _sign(f, product, 2))
    body = Body(f, product, sums, _places(f, product) if product.sparse else None)
    if quick is None:
        panels, _ = body.fill(rule)
        body.multiply(rule, panels)
    else:
        panels, bounds = body.fill(quick, bounded=True)
        ordinary, checked, done = (f.block(name) for name in ("ordinary", "checked", "added"))
        f.branch_if(body.are_extreme(quick, bounds), checked, ordinary, (1, 4000))
        f.label(ordinary)
        body.multiply(quick, panels)
        f.branch(done)
        f.label(checked)
        panels, _ = body.fill(rule)
        body.multiply(rule, panels)
        f.branch(done)
        f.label(done)
    sums.store(f, partial(finished, f, product))
    f.give()
    return f.text(attributes)


def finished(f: NativeFunction, product: Mfma, total: Value) -> Value:
    """Return a sum as bits, with the processor's NaN."""
    if product.is_integer:
        return total
    bits = f.bitcast(total, "i64" if product.is_double else "i32")
    nan = _DOUBLE_NAN if product.is_double else product.rule.nan
    assert nan is not None
    return f.select(f.compare("uno", total, total), f.const(bits, nan), bits)


def _sign(f: NativeFunction, product: Mfma, number: int) -> Value | None:
    """Return the bits that negate A, B or C: an i64, of f64."""
    if not product.is_double:
        return None
    bit = f.mask(f.shift("lshr", f.parameter("signs"), number), 1)
    return f.shift("shl", f.resize(bit, 64), 63)


def _places(f: NativeFunction, product: Mfma) -> Value:
    """Return a table of the places in the panel of B that elements of a sparse A meet."""
    table = f.scratch(f"[{product.held * product.across} x i32]")
    each = product.elements("a")
    copied = copy_registers(f, product, "index", 1)
    amount = f.mul(f.parameter("set"), constant("i32", 2 * each % 32))
    with each_row(f, product, "a") as (row, first):
        chosen = f.load(INTEGERS, f.offset(copied, f.shift("shl", row, 6)), 64)
        chosen = f.binary("lshr", chosen, f.splat(amount, ROW_LANES))
        # Of every four elements of B, two have partners.
        group = f.mul(f.shift("lshr", first, product.across.bit_length() - 1), i64(2))
        for element in range(each):
            picked = f.mask(f.shift("lshr", chosen, 2 * element), 2)
            k = f.splat(f.resize(f.add(group, i64(element // 2 * 4)), 32), ROW_LANES)
            place = f.mul(f.add(picked, k), f.const(picked, product.across))
            at = f.add(first, i64(element * product.across))
            f.store(place, f.offset(table, f.shift("shl", at, 2)), 16)
    return table


@dataclass(frozen=True, slots=True)
class Body:
    """What a product's function is made of. places: of a sparse A's partners."""

    f: NativeFunction
    product: Mfma
    sums: Sums
    places: Value | None

    def fill(self, rule: Rule, bounded: bool = False) -> tuple[tuple[Panel, Panel], list[Bounds]]:
        """Fill panels of A and B; return how large their numbers are, too, if `bounded`."""
        f, product, panels = self.f, self.product, []
        bounds = [RunningBounds.start(f) for _ in range(2 if bounded else 0)]
        for number, factor in enumerate("ab"):
            panel = Panel.of(f, product, factor, rule.kinds)
            kind = product.a if factor == "a" else product.b
            negate = _sign(f, product, number)
            with each_register(f, product, factor) as elements:
                seen = []
                for place, bits in elements:
                    lanes = bits if negate is None else f.xor(bits, f.splat(negate, ROW_LANES))
                    seen.append(numbers(f, kind, lanes))
                    panel.store(f, place, rule.parts(f, factor, seen[-1]))
                if bounded:
                    bounds[number].meet(f, seen)
            panels.append(panel)
        return (panels[0], panels[1]), [each.found(f) for each in bounds]

    def are_extreme(self, quick: QuickGrid, bounds: Sequence[Bounds]) -> Value:
        """Return an i1: whether an operand is not ordinary."""
        f = self.f
        addends = RunningBounds.start(f)
        rows = Loop(f, "row", self.sums.count)
        place = f.offset(self.sums.memory, f.mul(rows.index, i64(self.sums.size)))
        addends.meet(f, [f.load(vector(self.sums.kind, ROW_LANES), place, 64)])
        rows.close()
        outside = [quick.are_extreme(f, each) for each in bounds]
        lanes = reduce(f.or_, [*outside, quick.are_extreme_addends(f, addends.found(f))])
        kind = f"i{lanes_of(lanes.type)}"
        return f.compare("ne", f.cast("bitcast", lanes, kind), constant(kind, 0))

    def multiply(self, rule: Rule, panels: tuple[Panel, Panel]) -> None:
        """Add all products to the sums."""
        f, product = self.f, self.product
        left, right = panels
        tile = Loop(f, "tile", product.tiles)
        blocks = self._blocks(tile.index)
        first = f.shift("shl", tile.index, 4)
        step = Loop(f, "step", product.held // rule.length)
        start = f.mul(step.index, i64(rule.length * product.across))
        along = [f.add(start, i64(part * product.across)) for part in range(rule.length)]
        columns = [right.row(f, f.add(each, first)) for each in along] if not product.sparse else []
        row = Loop(f, "row", product.m)
        ones = [[f.add(f.add(each, block), row.index) for block in blocks] for each in along]
        if self.places is not None:
            columns = [self._partners(right, each[0], first) for each in ones]
        own = [left.spread(f, each) for each in ones]
        target = self.sums.at(f, tile.index, row.index)
        total = f.load(vector(self.sums.kind, ROW_LANES), target, 64)
        f.store(rule.step(f, own, columns, total), target, 64)
        for loop in (row, step, tile):
            loop.close()

    def _partners(self, right: Panel, place: Value, first: Value) -> list[Value]:
        """Return the factors of B that an element of a sparse A meets."""
        f = self.f
        assert self.places is not None
        found = f.load("i32", f.offset(self.places, f.shift("shl", place, 2)), 4)
        return right.row(f, f.add(f.resize(found, 64), first))

    def _blocks(self, tile: Value) -> list[Value]:
        """Return the first rows of A, across, of the blocks that meet the columns of a tile."""
        f, product = self.f, self.product
        if product.blocks == 1:
            return [i64(0)]
        per_tile = max(1, ROW_LANES // product.m)
        shift = (product.m // ROW_LANES).bit_length() - 1 if product.m > ROW_LANES else 0
        number = f.shift("lshr", f.mul(tile, i64(per_tile)), shift)
        keep, block = (f.resize(f.parameter(name), 64) for name in ("keep", "block"))
        found = []
        for each in range(per_tile):
            own = f.or_(f.and_(f.add(number, i64(each)), keep), block)
            found.append(f.mul(own, i64(product.m)))
        return found


def mfma_sources(arithmetic: str) -> Mapping[str, Callable[[str], str]]:
    """Return what makes the text of each native function."""
    return {each.symbol: partial(mfma_text, each, arithmetic) for each in products()}
