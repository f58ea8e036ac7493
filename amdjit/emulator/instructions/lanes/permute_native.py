"""Permutations of lanes by indices that are only known at run time."""

from __future__ import annotations

from amdjit.emulator.host.builder import Value, constant
from amdjit.emulator.host.function import V32, NativeFunction, i64


def gather_lanes_text(attributes: str) -> str:
    """Return `aj_gather_lanes(values, indices)`: lane i gets `values[indices[i] & 31]`."""
    function = NativeFunction("aj_gather_lanes", V32, [(V32, "values"), (V32, "indices")])
    table = function.allocate(V32)
    places = function.allocate(V32)
    function.store(function.parameter("values"), table, 64)
    scaled = function.shift("shl", function.mask(function.parameter("indices"), 5), 2)
    function.store(scaled, places, 64)
    result = Value(V32, "poison")
    for lane in range(32):
        place = function.resize(function.load("i32", function.offset(places, 4 * lane), 4), 64)
        item = function.load("i32", function.offset(table, place), 4)
        result = function.insert(result, item, lane)
    function.give(result)
    return function.text(attributes)


def scatter_lanes_text(attributes: str) -> str:
    """Return `aj_scatter_lanes(values, indices, exec)`: active lane i writes `result[indices[i] &
    31]`.

    Lanes that no lane writes are 0; if several write to one, the highest wins.
    """
    function = NativeFunction(
        "aj_scatter_lanes", V32, [(V32, "values"), (V32, "indices"), ("i32", "exec")]
    )
    table, places, result = (function.allocate(V32) for _ in range(3))
    function.store(function.parameter("values"), table, 64)
    function.store(function.mask(function.parameter("indices"), 5), places, 64)
    function.store(constant(V32, 0), result, 64)
    with function.each_lane(function.parameter("exec")) as each:
        distance = function.mul(each.lane, i64(4))
        item = function.load("i32", function.offset(table, distance), 4)
        place = function.resize(function.load("i32", function.offset(places, distance), 4), 64)
        function.store(item, function.offset(result, function.shift("shl", place, 2)), 4)
    function.give(function.load(V32, result, 64))
    return function.text(attributes)
