"""Wide buffer accesses of lanes that are partly inside the buffer: dword by dword (RDNA 4 ISA,
9.4.1)."""

from __future__ import annotations

from functools import partial

from amdjit.emulator.host.builder import Value
from amdjit.emulator.host.function import V32, NativeFunction, i32, i64
from amdjit.emulator.instructions.buffers.addresses import HIGH_OFFSET, MASKS_OFFSET
from amdjit.emulator.layout import VGPR_BYTES

PARTS_LOAD, PARTS_STORE = "aj_buffer_parts_load", "aj_buffer_parts_store"


def parts_text(store: bool, attributes: str) -> str:
    """Return the function. `place` is what `aj_buffer_place` wrote, `full` the lanes that are
    already done."""
    parameters = [
        ("ptr", "context"),
        ("i32", "site"),
        ("ptr", "place"),
        ("i32", "full"),
        ("ptr", "data"),
    ]
    f = NativeFunction(PARTS_STORE if store else PARTS_LOAD, "void", parameters)
    place = f.parameter("place")
    others = f.not_(f.parameter("full"))
    masks = [
        f.and_(f.load("i32", f.offset(place, MASKS_OFFSET + 4 * part), 4), others)
        for part in range(4)
    ]
    for part, mask in enumerate(masks):
        f.branch_if(f.compare("eq", mask, i32(0)), f"done{part}", f"part{part}")
        f.label(f"part{part}")
        _part(f, store, part, mask)
        f.branch(f"done{part}")
        f.label(f"done{part}")
    f.give()
    return f.text(attributes)


def _part(f: NativeFunction, store: bool, part: int, mask: Value) -> None:
    place = f.parameter("place")
    slot = f.offset(f.parameter("data"), part * VGPR_BYTES)
    words = [f.load(V32, place, 64), f.load(V32, f.offset(place, HIGH_OFFSET), 64)]
    arguments = [f.parameter("context"), f.parameter("site"), *words, i64(4 * part), mask]
    old = f.load(V32, slot, 64)
    if store:
        f.call_void("aj_store_v4", [*arguments, old])
    else:
        loaded = f.call("aj_load_v4", V32, arguments)
        f.store(f.select(f.lane_mask(mask), loaded, old), slot, 64)


PARTS = {PARTS_LOAD: partial(parts_text, False), PARTS_STORE: partial(parts_text, True)}
