"""The check of a scalar load's address."""

from __future__ import annotations

from amdjit.emulator.host.function import NativeFunction, i32, i64
from amdjit.emulator.layout import Context, FaultKind


def scalar_address_text(attributes: str) -> str:
    """Return `aj_scalar_address(context, site, address, size)`: the address as a pointer, or 64
    zero bytes.

    For size 0, a buffer load out of bounds, it is always the zeros.
    """
    function = NativeFunction(
        "aj_scalar_address",
        "ptr",
        [("ptr", "context"), ("i32", "site"), ("i64", "address"), ("i32", "size")],
    )
    slot = function.allocate("i64", 8)
    address = function.parameter("address")
    row = function.site_row()
    lo, span = function.load("i64", row, 8), function.load("i64", function.offset(row, 8), 8)
    distance = function.sub(address, lo)
    inside = function.compare("ult", distance, span)
    room = function.sub(span, distance)
    fits = function.compare("uge", room, function.resize(function.parameter("size"), 64))
    function.branch_if(function.and_(inside, fits), "hit", "search")
    function.label("hit")
    empty = function.compare("eq", function.parameter("size"), i32(0))
    function.branch_if(empty, "bad", "good")
    function.label("search")
    function.branch_if(function.compare("eq", function.parameter("size"), i32(0)), "bad", "find")
    function.label("find")
    function.store(address, slot, 8)
    function.store(i64(0), function.context_field(Context.OFFSET_BASE), 8)
    arguments = [
        function.parameter("context"),
        function.parameter("site"),
        slot,
        i32(1),
        function.parameter("size"),
        i32(FaultKind.SCALAR_LOAD),
    ]
    found = function.call("aj_resolve", "i32", arguments)
    function.branch_if(function.compare("ne", found, i32(0)), "good", "bad")
    function.label("good")
    function.give(function.pointer(address))
    function.label("bad")
    function.line("ret ptr @zeros")
    zeros = "@zeros = internal constant [64 x i8] zeroinitializer, align 64"
    return f"{zeros}\n{function.text(attributes)}"
