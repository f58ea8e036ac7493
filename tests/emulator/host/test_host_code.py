"""The builder of host code: what its structures compute, run as host functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.declaration import Declaration, declare
from amdjit.emulator.host.function import (
    FALSE,
    TRUE,
    NativeFunction,
    i32,
    i64,
    module_text,
)
from amdjit.emulator.host.jit import HostCompiler, LinkedCode
from amdjit.emulator.host.record import Record
from amdjit.emulator.layout import Field

TWO = declare("aj_two", "i64", x="i64", y="i64")
COMPILER = HostCompiler()
_KEPT: list[LinkedCode] = []

Native = Callable[..., int]


class Pair(Field):
    """A record for these tests."""

    FIRST = 0
    NEXT = 1, "ptr"
    SIZE = 2, "i64", "bytes"


def compiled(text: str, name: str, parameters: int = 2) -> Native:
    code = COMPILER.link([COMPILER.compile(text).image], {}, [name])
    _KEPT.append(code)
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * parameters)
    return kind(code.addresses[name])


def native(build: Callable[[NativeFunction, Value, Value], None]) -> Native:
    f = NativeFunction.of(TWO)
    build(f, *f.parameters)
    return compiled(f.text(COMPILER.function_attributes), TWO.name)


def test_if_is_built_only_where_its_condition_holds() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        result = f.variable(y)
        with f.if_(f.compare("sgt", x, y)):
            result.set(x)
        f.give(result.get())

    greatest = native(build)
    assert [greatest(3, 5), greatest(5, 3), greatest(4, 4)] == [5, 5, 4]


def test_unless_is_built_only_where_its_condition_does_not_hold() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        with f.unless(f.compare("eq", x, i64(0))):
            f.give(f.binary("sdiv", y, x))
        f.give(i64(-1))

    divided = native(build)
    assert [divided(4, 12), divided(0, 12)] == [3, -1]


@pytest.mark.parametrize("leaves", ["neither", "then", "otherwise", "both"])
def test_ways_of_if_else_may_return_or_meet(leaves: str) -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        result = f.variable(i64(0))
        with f.if_else(f.compare("slt", x, y)) as (then, otherwise):
            with then:
                result.set(i64(1))
                if leaves in ("then", "both"):
                    f.give(i64(10))
            with otherwise:
                result.set(i64(2))
                if leaves in ("otherwise", "both"):
                    f.give(i64(20))
        if leaves != "both":
            f.give(result.get())

    order = native(build)
    then = 10 if leaves in ("then", "both") else 1
    otherwise = 20 if leaves in ("otherwise", "both") else 2
    assert [order(1, 2), order(2, 1)] == [then, otherwise]


def test_if_any_of_takes_each_of_its_cases() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        with f.if_any_of(x, (1, 4, 9)):
            f.give(i64(1))
        f.give(i64(0))

    is_square = native(build)
    assert [is_square(x, 0) for x in range(10)] == [0, 1, 0, 0, 1, 0, 0, 0, 0, 1]


def test_loop_carries_its_values_and_keeps_those_that_are_not_given() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        with f.loop(larger=x, smaller=y, step=i64(1)) as each:
            each.leave_if(f.compare("eq", each.smaller, i64(0)))
            rest = f.binary("srem", each.larger, each.smaller)
            each.again(larger=each.smaller, smaller=rest)
        f.give(f.mul(each.larger, each.step))

    divisor = native(build)
    assert [divisor(12, 18), divisor(7, 3), divisor(5, 0)] == [6, 1, 5]


def test_loop_goes_round_where_its_body_ends_and_skips_what_is_left() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        total = f.variable(i64(0))
        with f.loop(number=i64(0)) as each:
            each.leave_unless(f.compare("slt", each.number, x))
            following = f.add(each.number, i64(1))
            each.skip_if(f.compare("eq", each.number, y), number=following)
            total.set(f.add(total.get(), each.number))
            each.again(number=following)
        f.give(total.get())

    summed = native(build)
    assert [summed(5, 3), summed(5, 9), summed(0, 0)] == [7, 10, 0]


def test_loop_without_values_goes_round_by_itself() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        left, rounds = f.variable(x), f.variable(i64(0))
        with f.loop():
            with f.if_(f.compare("sle", left.get(), i64(0))):
                f.give(rounds.get())
            left.set(f.sub(left.get(), y))
            rounds.set(f.add(rounds.get(), i64(1)))

    rounds = native(build)
    assert [rounds(10, 3), rounds(0, 1)] == [4, 0]


def test_count_to_gives_each_number_once() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        total = f.variable(i64(0))
        with f.count_to(x) as outer, f.count_to(y) as inner:
            total.set(f.add(total.get(), f.mul(outer, inner)))
        f.give(total.get())

    products = native(build)
    assert products(4, 5) == sum(x * y for x in range(4) for y in range(5))


def test_section_is_left_from_inside_of_other_structures() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        count = f.variable(i64(0))
        with f.count_to(x) as number, f.section() as part:
            part.leave_unless(f.compare("ne", number, y))
            with f.if_(f.compare("ugt", number, y)):
                part.leave_if(f.compare("eq", f.and_(number, i64(1)), i64(0)))
            count.set(f.add(count.get(), i64(1)))
        f.give(count.get())

    counted = native(build)
    expected = [n for n in range(10) if n != 3 and not (n > 3 and n % 2 == 0)]
    assert counted(10, 3) == len(expected)


def test_each_lane_visits_the_set_bits_in_their_order() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        total = f.variable(y)
        with f.each_lane(f.resize(x, 32)) as each:
            total.set(f.add(f.mul(total.get(), i64(100)), each.lane))
        f.give(total.get())

    lanes = native(build)
    assert [lanes(0b1010010, 0), lanes(0, 7)] == [1 * 100 * 100 + 4 * 100 + 6, 7]


def test_switch_and_values_that_meet() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        small, large, end = f.block("small"), f.block("large"), f.block("end")
        f.switch(x, {1: small, 2: small}, large)
        f.label(small)
        sum_ = f.add(x, y)
        f.branch(end)
        f.label(large)
        product = f.mul(x, y)
        f.branch(end)
        f.label(end)
        f.give(f.phi("i64", (sum_, small), (product, large)))

    both = native(build)
    assert [both(1, 5), both(2, 5), both(3, 5)] == [6, 7, 15]


def test_records_are_read_and_written_by_their_fields() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        row = Record(f, f.pointer(x)).row(y, len(Pair))
        row.set(Pair.SIZE, f.add(row.get(Pair.SIZE), row.follow(Pair.NEXT).get(Pair.FIRST)))
        f.give(row.get(Pair.SIZE))

    change = native(build)
    rows = (ctypes.c_int64 * 6)()
    rows[0], rows[4], rows[5] = 40, ctypes.addressof(rows), 2
    assert change(ctypes.addressof(rows), 1) == 42
    assert list(rows)[5] == 42


def test_fields_know_their_types_and_refuse_others() -> None:
    assert [(int(field), field.type, field.unit) for field in Pair] == [
        (0, "i64", ""),
        (1, "ptr", ""),
        (2, "i64", "bytes"),
    ]
    f = NativeFunction.of(TWO)
    with pytest.raises(AssertionError, match="NEXT is ptr, not i64"):
        Record(f, f.pointer(f.parameter("x"))).set(Pair.NEXT, i64(0))


def test_functions_are_called_by_their_declarations() -> None:
    inner = declare("aj_inner", "i64", value="i64")
    f = NativeFunction.of(inner, "internal")
    f.give(f.mul(f.parameter("value"), i64(3)))
    outer = NativeFunction.of(TWO)
    x, y = outer.parameters
    outer.give(outer.add(outer.invoke(inner, x), y))
    attributes = COMPILER.function_attributes
    assert COMPILER.compile(outer.text(attributes)).natives == ("aj_inner",)
    text = module_text([outer, f], attributes)
    assert COMPILER.compile(text).natives == ()
    assert compiled(text, TWO.name)(5, 2) == 17


def test_calls_that_do_not_fit_the_declaration_are_refused() -> None:
    f = NativeFunction.of(TWO)
    with pytest.raises(AssertionError, match="aj_two called with"):
        f.invoke(TWO, i64(1), i32(1))


def test_memory_is_changed_atomically() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        place = f.pointer(x)
        old = f.atomic("add", place, y)
        _, is_replaced = f.compare_exchange(place, i64(12), i64(100))
        f.give(f.select(is_replaced, old, f.load_atomic("i64", place)))

    change = native(build)
    number = ctypes.c_int64(10)
    assert [change(ctypes.addressof(number), 2), number.value] == [10, 100]
    assert [change(ctypes.addressof(number), 2), number.value] == [102, 102]


def test_bytes_are_filled_and_copied() -> None:
    def build(f: NativeFunction, x: Value, y: Value) -> None:
        f.fill(f.pointer(x), 7, 4)
        f.copy(f.pointer(y), f.pointer(x), i64(3))
        f.give(i64(0))

    source, target = (ctypes.c_uint8 * 4)(), (ctypes.c_uint8 * 4)()
    native(build)(ctypes.addressof(source), ctypes.addressof(target))
    assert (bytes(source), bytes(target)) == (b"\7\7\7\7", b"\7\7\7\0")


@pytest.mark.parametrize(
    ("value", "known"),
    [
        (i32(-1), 0xFFFFFFFF),
        (constant("<32 x i16>", 5), 5),
        (TRUE, None),
        (FALSE, None),
        (constant("float", 1.0), None),
        (Value("i32", "%x"), None),
    ],
)
def test_bits_of_integer_constants_are_known(value: Value, known: int | None) -> None:
    f = NativeFunction.of(TWO)
    assert f.known(value) == known
    if not value.type.startswith("<"):
        assert f.known(f.splat(value)) == known


def test_declarations_have_the_parameters_in_their_order() -> None:
    assert declare("f", a="i64", b="ptr") == Declaration("f", "void", (("a", "i64"), ("b", "ptr")))
