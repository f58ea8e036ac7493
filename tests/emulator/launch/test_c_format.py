"""C's printf formats, as the host writes them for kernels, against libc's."""

from __future__ import annotations

import ctypes
import random
import struct

import pytest

from amdjit.abi.c_format import Words, format_c
from tests.emulator.launch.printf_programs import libc_text

_DOUBLES = (0.0, -0.0, 1.0, -2.5, 0.5, 1.5, 9.995, 5e-324, 1.7976931348623157e308)
_NO_NUMBERS = (float("inf"), float("-inf"), float("nan"))


def word(value: int) -> bytes:
    return (value & (1 << 64) - 1).to_bytes(8, "little")


def random_text(rng: random.Random) -> tuple[bytes, bytes, list[object]]:
    """Return a format, the words of its arguments, and its arguments for libc."""
    conversion = rng.choice("diouxXcspfFeEgGaA")
    numeric = conversion not in "csp"
    flags = "".join(flag for flag in "-+ #0" if numeric and rng.random() < 0.3)
    data, arguments = b"", list[object]()
    width = rng.choice(["", "5", "12", "*"])
    if width == "*":
        # With a negative width and the flag 0, glibc writes zeros after a float: 2.5 as 2.5000.
        value = rng.randint(0 if "0" in flags else -15, 15)
        data, arguments = word(value & 0xFFFFFFFF), [ctypes.c_int(value)]
    precision = rng.choice(["", ".", ".0", ".3", ".17", ".*"]) if conversion != "c" else ""
    if conversion == "p":
        precision = ""
    if precision == ".*":
        value = rng.randint(-3, 9)
        data += word(value & 0xFFFFFFFF)
        arguments.append(ctypes.c_int(value))
    length = rng.choice(["", "hh", "h", "l", "ll", "j", "z"]) if conversion in "diouxX" else ""
    more, argument = random_argument(rng, conversion)
    form = f"a%%{'%'}{flags}{width}{precision}{length}{conversion}b"
    return form.encode(), data + more, [*arguments, argument]


def random_argument(rng: random.Random, conversion: str) -> tuple[bytes, object]:
    """Return an argument as words, and for libc."""
    if conversion == "s":
        text = bytes(rng.randint(1, 255) for _ in range(rng.choice([0, 1, 7, 8, 9, 20])))
        return text + bytes(8 - len(text) % 8), ctypes.c_char_p(text)
    if conversion in "fFeEgGaA":
        near = (*_DOUBLES, *_NO_NUMBERS, rng.random(), rng.gauss(0, 1e10))
        number = rng.choice([*near, *struct.unpack("<d", rng.randbytes(8))])
        return struct.pack("<d", number), ctypes.c_double(number)
    value = rng.choice([0, 1, -1, rng.getrandbits(64), rng.getrandbits(33), 1 << 63, 1 << 31])
    if conversion == "p":
        return word(value), ctypes.c_void_p(value & (1 << 64) - 1)
    return word(value), ctypes.c_uint64(value & (1 << 64) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_random_formats(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(2000):
        form, data, arguments = random_text(rng)
        assert format_c(form, Words(data)) == libc_text(form, arguments), (form, data)


@pytest.mark.parametrize(
    ("form", "data", "text"),
    [
        (b"100%", b"", b"100%"),
        (b"%y%d", word(3), b"%y3"),
        (b"%d %d", word(3), b"3 0"),
        (b"%n%d", word(1) + word(2), b"2"),
        (b"%s|", b"", b"|"),
        (b"%-*d|", word(4) + word(1), b"1   |"),
        (b"%0*.1f|", word(-6 & 0xFFFFFFFF) + struct.pack("<d", 2.5), b"2.5   |"),
        (b"%s%s|%d", b"exactly8" + bytes(8) + b"x" + bytes(7) + word(5), b"exactly8x|5"),
    ],
)
def test_what_is_no_placeholder_and_what_is_missing(form: bytes, data: bytes, text: bytes) -> None:
    assert format_c(form, Words(data)) == text
