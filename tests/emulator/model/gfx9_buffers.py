"""gfx9's formats of buffers: a format of data and one of numbers (CDNA 3 ISA, table "Buffer
Resource Descriptor")."""

from __future__ import annotations

# Components are named from the highest bits down.
_DATA = (
    *("8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2", "2_10_10_10"),
    *("8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32"),
)
_NUMBERS = {0: "UNORM", 1: "SNORM", 2: "USCALED", 3: "SSCALED", 4: "UINT", 5: "SINT", 7: "FLOAT"}


def _exists(name: str, kind: str) -> bool:
    """Wide components are whole numbers or floats, narrow ones never floats."""
    widths = {int(width) for width in name.split("_")}
    if widths == {10, 11}:
        return kind == "FLOAT"
    # RDNA 4's table has no scaled ones of these, and gfx9's says nothing of their own.
    if name == "10_10_10_2" and kind.endswith("SCALED"):
        return False
    if 32 in widths:
        return kind in ("UINT", "SINT", "FLOAT")
    return kind != "FLOAT" or widths == {16}


# Numbers as instructions have them: the data's in four bits, the numbers' above.
FORMATS: dict[int, tuple[str, list[int]]] = {
    first | number << 4: (kind, [int(width) for width in name.split("_")][::-1])
    for first, name in enumerate(_DATA, 1)
    for number, kind in _NUMBERS.items()
    if _exists(name, kind)
}
