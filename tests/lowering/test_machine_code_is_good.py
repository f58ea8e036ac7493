"""What the IR is written for: short address forms, merged accesses, barriers that wait for no more
than they must."""

from __future__ import annotations

import re
from typing import Any

import pytest
from llvm_tools import assembly, instructions, requires_llvm
from trees import (
    HERE,
    array,
    assign,
    call,
    compare,
    do,
    function,
    grid,
    group,
    if_,
    load,
    lowered,
    number,
    op,
    read,
    shared,
    store,
    thread,
    variable,
)

from amdjit.declarations import Emit, intrinsic
from amdjit.tree import nodes as tree
from amdjit.types import VOID, AddressSpace, Array, Layout, Vector, f16, f32, i32, i64

pytestmark = requires_llvm


def fused(*names: str, element: Any = f32, **options: Any) -> list[tree.Variable]:
    return [variable(name, array(element, **options)) for name in names]


def saxpy(**options: Any) -> tree.Function:
    a, i = variable("a", f32), variable("i", i32)
    x, y, out = fused("x", "y", "out", **options)
    total = op("+", op("*", read(a), load(read(x), read(i))), load(read(y), read(i)))
    bound = tree.Extent(HERE, out.type.index_type, read(out), 0)  # type: ignore[attr-defined]
    index = read(i) if bound.type == i32 else tree.Convert(HERE, i64, read(i))
    body = if_(compare("<", index, bound), (store(read(out), (read(i),), total),))
    return function("saxpy", (a, x, y, out), assign(i, grid()), body)


def test_saxpy_takes_few_instructions_and_32_bit_offsets() -> None:
    code = instructions(assembly(lowered(saxpy())))
    assert len(code) <= 26
    assert (
        sum(
            "global_load_b32 v1, v0, s[" in text or "global_load_b32 v2, v0, s[" in text
            for text in code
        )
        == 2
    )
    assert not any("co_ci" in text for text in code), "64-bit address arithmetic"


def test_arrays_over_2_gib_get_64_bit_addresses() -> None:
    text = lowered(saxpy(offset_bits=64))
    assert "sext i32" in text
    assert "s_endpgm" in assembly(text)


@pytest.mark.parametrize("order", ["constant inside", "constant last"])
def test_eight_neighbouring_halves_become_one_128_bit_load(order: str) -> None:
    a, out = variable("a", array(f16)), variable("out", array(Vector(f16, 8)))
    lane, vector = variable("lane", i32), variable("vector", Vector(f16, 8))
    row = op("*", number(16), op("%", read(lane), number(16)), True)
    half = op("*", number(8), op("//", read(lane), number(16)), True)
    body = [
        assign(lane, call(thread)),
        assign(vector, tree.Splat(HERE, vector.type, number(0.0, f16))),
    ]
    for e in range(8):
        if order == "constant last":
            index = op("+", op("+", row, half, True), number(e), True)
        else:
            index = op("+", op("+", row, number(e), True), half, True)
        element = load(read(a), index)
        body.append(
            assign(vector, tree.InsertElement(HERE, vector.type, read(vector), number(e), element))
        )
    body.append(store(read(out), (read(lane),), read(vector)))
    code = instructions(assembly(lowered(function("k", (a, out), *body))))
    assert [text.split()[0] for text in code if text.startswith("global")] == [
        "global_load_b128",
        "global_store_b128",
    ]
    assert len(code) <= 12


def test_neighbours_in_a_row_of_a_matrix_become_one_load() -> None:
    a, out = variable("a", array(f32, 2)), variable("out", array(f32, 2))
    column = op("*", number(4), call(thread), True)
    body = []
    for e in range(4):
        place = op("+", column, number(e), True)
        body.append(store(read(out), (call(group), place), load(read(a), call(group), place)))
    code = instructions(assembly(lowered(function("k", (a, out), *loads_first(body)))))
    assert [text.split()[0] for text in code if text.startswith("global_load")] == [
        "global_load_b128"
    ]


def loads_first(stores: list[tree.Store]) -> list[Any]:
    """Load all values before the first store, which might change what is loaded."""
    values = [variable(f"v{number}", f32) for number in range(len(stores))]
    loads = [assign(value, one.value) for value, one in zip(values, stores, strict=True)]
    return loads + [
        store(one.array, one.indices, read(v)) for v, one in zip(values, stores, strict=True)
    ]


def test_constant_distances_become_offsets_of_the_instruction() -> None:
    a, out, lane = variable("a", array(f32)), variable("out", array(f32)), call(thread)
    body = [
        store(read(out), (op("+", lane, number(32 * e), True),), load(read(a), lane))
        for e in range(4)
    ]
    code = instructions(assembly(lowered(function("k", (a, out), *body))))
    stores = [text for text in code if text.startswith("global_store")]
    assert [text.rpartition("offset:")[2] for text in stores[1:]] == ["128", "256", "384"]


def test_constant_distances_in_the_second_lds_array_become_offsets_too() -> None:
    """LLVM puts a kernel's LDS arrays into one, where the second one's place is a constant as
    well."""
    out, row, place = (
        variable("out", array(Vector(f16, 8))),
        variable("row", i32),
        variable("place", i32),
    )
    tiles = [variable(name, shared(f16, 5120)) for name in ("first", "second")]
    lane, k = op("%", call(thread), number(32)), variable("k", i32)
    body: list[Any] = [
        assign(tile, tree.AllocateArray(HERE, tile.type, tile.name)) for tile in tiles
    ]
    body.append(
        assign(row, op("*", number(64), op("%", op("//", call(thread), number(32)), number(2))))
    )
    in_row = op("*", number(40), op("%", read(lane_of := variable("lane", i32)), number(16)), True)
    body.append(assign(lane_of, lane))
    half = op("*", number(8), op("//", read(lane_of), number(16)), True)
    body.append(assign(place, op("+", in_row, half)))
    body += [store(read(tile), (call(thread),), number(1.0, f16)) for tile in tiles]
    inside: list[Any] = []
    for tile_number, tile in enumerate(tiles):
        for step in range(4):
            rows = op("*", number(40), op("+", read(row), number(16 * step), True), True)
            fragment = load(read(tile), op("+", rows, read(place), True), width=8)
            where = op("+", op("*", number(8), read(k), True), number(4 * tile_number + step), True)
            inside.append(store(read(out), (where,), fragment))
    inside.append(do(call(barrier_with("local"))))
    loop = tree.ForRange(
        HERE, k, number(0), tree.Extent(HERE, i32, read(out), 0), number(1), inside, unroll=1
    )
    code = instructions(assembly(lowered(function("k", (out,), *body, loop))))
    addresses = {
        text.split("], ")[1].split()[0] for text in code if text.startswith("ds_load_b128")
    }
    assert len(addresses) <= 2, "one address register for each array at most"


def test_strided_arrays_may_have_negative_strides() -> None:
    a = variable("a", array(f32, layout=Layout.STRIDED))
    out = variable("out", array(f32))
    text = lowered(
        function("k", (a, out), store(read(out), (call(thread),), load(read(a), call(thread))))
    )
    assert "sext i32" in text, "the offset from the first element may be negative"
    assert 'getelementptr inbounds i8, ptr addrspace(1) %"a"' in text
    assert 'getelementptr inbounds nuw i8, ptr addrspace(1) %"out"' in text
    assert "s_endpgm" in assembly(text)


def tiled(barrier: Any) -> tree.Function:
    """Each lane puts a loaded value to LDS and reads another lane's, while a global load is in
    flight."""
    a, out = fused("a", "out")
    tile, ahead = variable("tile", shared(f32, 64)), variable("ahead", f32)
    return function(
        "k",
        (a, out),
        assign(tile, tree.AllocateArray(HERE, tile.type, "tile")),
        store(read(tile), (call(thread),), load(read(a), call(thread))),
        assign(ahead, load(read(a), op("+", call(thread), number(64), True))),
        do(call(barrier)),
        store(
            read(out),
            (call(thread),),
            op("+", read(ahead), load(read(tile), op("^", call(thread), number(1)))),
        ),
    )


def barrier_with(*spaces: str) -> Any:
    def emit(context: Any) -> None:
        context.fence("release", "workgroup", spaces)
        context.call("llvm.amdgcn.s.barrier", context.llvm_type(VOID), [])
        context.fence("acquire", "workgroup", spaces)

    @intrinsic(Emit(emit), isa="s_barrier_signal")
    def barrier() -> VOID:  # type: ignore[valid-type]
        """Wait for the workgroup."""

    return barrier


def test_a_barrier_for_lds_leaves_global_loads_in_flight() -> None:
    code = instructions(assembly(lowered(tiled(barrier_with("local")), block=64)))
    wait = code.index("s_barrier_signal -1")
    assert "global_inv" not in " ".join(code)
    assert not any(text.startswith("s_wait_loadcnt 0x0") for text in code[:wait])
    assert any("dscnt" in text for text in code[:wait])


def test_a_barrier_for_all_memory_orders_global_memory_too() -> None:
    code = instructions(assembly(lowered(tiled(barrier_with()), block=64)))
    assert any(text.startswith("global_inv scope:SCOPE_SE") for text in code)


def test_a_compiled_in_block_needs_no_implicit_argument() -> None:
    text = lowered(saxpy(), block=(256,))
    assert "implicitarg" not in text
    assert "reqd_work_group_size" in text
    assert len(instructions(assembly(text))) < len(instructions(assembly(lowered(saxpy()))))


def test_loops_of_larger_steps_use_scalar_arithmetic() -> None:
    a, out = fused("a", "out")
    k, total = variable("k", i32), variable("total", f32)
    add = assign(total, op("+", read(total), load(read(a), op("+", read(k), call(thread), True))))
    extent = tree.Extent(HERE, i32, read(a), 0)
    loop = tree.ForRange(HERE, k, number(0), extent, number(32), (add,), unroll=1)
    kernel = function(
        "k",
        (a, out),
        assign(total, number(0.0, f32)),
        loop,
        store(read(out), (call(thread),), read(total)),
    )
    code = assembly(lowered(kernel))
    body = code[code.index("LBB0_2:") : code.index("s_cbranch_scc1 .LBB0_2")]
    assert "s_cmp_" in body
    assert "v_cmp" not in body


def test_fast_math_allows_fusing_and_nothing_else_does() -> None:
    precise, fast = assembly(lowered(saxpy())), assembly(lowered(saxpy(), fastmath=True))
    assert "v_mul_f32" in precise
    assert "v_fma" not in precise
    assert "v_fma" in fast
    contracted = assembly(lowered(saxpy(), fastmath=frozenset({"contract"})))
    assert "v_fma" in contracted


def test_dynamic_lds_begins_behind_static_lds_and_has_the_launch_s_extent() -> None:
    out = variable("out", array(i32))
    static, dynamic = shared(f32, 10), Array(f32, 1, Layout.CONTIGUOUS, AddressSpace.LDS)
    fixed = variable("fixed", static)
    text = lowered(
        function(
            "k",
            (out,),
            assign(fixed, tree.AllocateArray(HERE, static, "fixed")),
            store(read(fixed), (call(thread),), number(1.0, f32)),
            store(
                tree.AllocateArray(HERE, dynamic, "dynamic", True),
                (number(0),),
                load(read(fixed), number(3)),
            ),
            store(
                read(out),
                (number(0),),
                tree.Extent(HERE, i32, tree.AllocateArray(HERE, dynamic, "dynamic", True), 0),
            ),
        )
    )
    code = assembly(text)
    assert re.search(r"v_mov_b32_e32 (v\d+), 48\n(.*\n)*\tds_store_b32 \1, ", code), (
        "40 bytes of static LDS, aligned to 16"
    )
    assert re.search(r"s_lshr_b32 (s\d+), \1, 2\n", code), "bytes of the launch over 4"
