"""The formats that buffer instructions convert (RDNA 4 ISA document, 9.3 and 10.7).

A format's name lists its components from the highest bits down: X of 10_11_11 is in the lowest 11
bits.
"""

from __future__ import annotations

from amdjit.late_methods import dataclass

# Unified formats, with LLVM's names in assembly (SIDefines.h, UfmtGFX11).
BUFFER_FORMATS = {
    0: "BUF_FMT_INVALID",
    1: "BUF_FMT_8_UNORM",
    2: "BUF_FMT_8_SNORM",
    3: "BUF_FMT_8_USCALED",
    4: "BUF_FMT_8_SSCALED",
    5: "BUF_FMT_8_UINT",
    6: "BUF_FMT_8_SINT",
    7: "BUF_FMT_16_UNORM",
    8: "BUF_FMT_16_SNORM",
    9: "BUF_FMT_16_USCALED",
    10: "BUF_FMT_16_SSCALED",
    11: "BUF_FMT_16_UINT",
    12: "BUF_FMT_16_SINT",
    13: "BUF_FMT_16_FLOAT",
    14: "BUF_FMT_8_8_UNORM",
    15: "BUF_FMT_8_8_SNORM",
    16: "BUF_FMT_8_8_USCALED",
    17: "BUF_FMT_8_8_SSCALED",
    18: "BUF_FMT_8_8_UINT",
    19: "BUF_FMT_8_8_SINT",
    20: "BUF_FMT_32_UINT",
    21: "BUF_FMT_32_SINT",
    22: "BUF_FMT_32_FLOAT",
    23: "BUF_FMT_16_16_UNORM",
    24: "BUF_FMT_16_16_SNORM",
    25: "BUF_FMT_16_16_USCALED",
    26: "BUF_FMT_16_16_SSCALED",
    27: "BUF_FMT_16_16_UINT",
    28: "BUF_FMT_16_16_SINT",
    29: "BUF_FMT_16_16_FLOAT",
    30: "BUF_FMT_10_11_11_FLOAT",
    31: "BUF_FMT_11_11_10_FLOAT",
    32: "BUF_FMT_10_10_10_2_UNORM",
    33: "BUF_FMT_10_10_10_2_SNORM",
    34: "BUF_FMT_10_10_10_2_UINT",
    35: "BUF_FMT_10_10_10_2_SINT",
    36: "BUF_FMT_2_10_10_10_UNORM",
    37: "BUF_FMT_2_10_10_10_SNORM",
    38: "BUF_FMT_2_10_10_10_USCALED",
    39: "BUF_FMT_2_10_10_10_SSCALED",
    40: "BUF_FMT_2_10_10_10_UINT",
    41: "BUF_FMT_2_10_10_10_SINT",
    42: "BUF_FMT_8_8_8_8_UNORM",
    43: "BUF_FMT_8_8_8_8_SNORM",
    44: "BUF_FMT_8_8_8_8_USCALED",
    45: "BUF_FMT_8_8_8_8_SSCALED",
    46: "BUF_FMT_8_8_8_8_UINT",
    47: "BUF_FMT_8_8_8_8_SINT",
    48: "BUF_FMT_32_32_UINT",
    49: "BUF_FMT_32_32_SINT",
    50: "BUF_FMT_32_32_FLOAT",
    51: "BUF_FMT_16_16_16_16_UNORM",
    52: "BUF_FMT_16_16_16_16_SNORM",
    53: "BUF_FMT_16_16_16_16_USCALED",
    54: "BUF_FMT_16_16_16_16_SSCALED",
    55: "BUF_FMT_16_16_16_16_UINT",
    56: "BUF_FMT_16_16_16_16_SINT",
    57: "BUF_FMT_16_16_16_16_FLOAT",
    58: "BUF_FMT_32_32_32_UINT",
    59: "BUF_FMT_32_32_32_SINT",
    60: "BUF_FMT_32_32_32_FLOAT",
    61: "BUF_FMT_32_32_32_32_UINT",
    62: "BUF_FMT_32_32_32_32_SINT",
    63: "BUF_FMT_32_32_32_32_FLOAT",
}

KINDS = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT")


@dataclass(frozen=True, slots=True)
class BufferFormat:
    """A format. widths: bits of the components, from X in the lowest bits upwards."""

    number: int
    kind: str
    widths: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return sum(self.widths) // 8

    @property
    def is_integer(self) -> bool:
        """Whether registers hold integers, not floats."""
        return self.kind in ("UINT", "SINT")


def format_of(number: int) -> BufferFormat | None:
    """Return the format of a number, None for INVALID and for formats of images only."""
    words = BUFFER_FORMATS.get(number, "INVALID").removeprefix("BUF_FMT_").split("_")
    if words[-1] not in KINDS:
        return None
    return BufferFormat(number, words[-1], tuple(int(word) for word in reversed(words[:-1])))


def format_named(name: str) -> BufferFormat | None:
    """Return the format with this name in AMD's documents, such as `8_8_8_8_UNORM`, or None."""
    return next(
        (format_of(number) for number, full in BUFFER_FORMATS.items() if full == f"BUF_FMT_{name}"),
        None,
    )


# gfx9 names a format by two numbers: the widths of its components, and their kind.
_WIDTHS = (
    *("INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2"),
    *("2_10_10_10", "8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED"),
)
_KINDS_OF_GFX9 = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED", "FLOAT")


def unified_format(data: int, number: int) -> int:
    """Return the unified format of gfx9's data format and number format, 0 if there is none."""
    name = f"BUF_FMT_{_WIDTHS[data]}_{_KINDS_OF_GFX9[number]}"
    return next((code for code, known in BUFFER_FORMATS.items() if known == name), 0)
