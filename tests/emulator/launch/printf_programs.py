"""Random programs that print, and what C's own printf writes for them."""

from __future__ import annotations

import ctypes
import random
import struct

import numpy as np

_LIBC = ctypes.CDLL(None)
_INTEGERS = {"": "int", "h": "short", "hh": "signed char", "l": "long", "ll": "long long"}
THREADS = 24


def libc_text(form: bytes, arguments: list[object]) -> bytes:
    """Return what snprintf writes."""
    buffer = ctypes.create_string_buffer(4096)
    written = _LIBC.snprintf(buffer, 4096, form, *arguments)
    return buffer.raw[:written]


class Placeholder:
    """A random placeholder, the C expression of its argument, and its argument for libc."""

    def __init__(self, rng: random.Random) -> None:
        self.conversion = rng.choice("diouxXcspeEfFgGaA%")
        numeric = self.conversion not in "csp%"
        flags = "".join(flag for flag in "-+ #0" if numeric and rng.random() < 0.3)
        self.star = rng.choice([None, None, rng.randint(0, 12)])
        width = "*" if self.star is not None else rng.choice(["", "", "7", "14"])
        precision = rng.choice(["", "", ".0", ".3", ".9"]) if self.conversion not in "cp" else ""
        self.length = rng.choice(list(_INTEGERS)) if self.conversion in "diouxX" else ""
        self.string = "".join(rng.choice("ab cd%e!") for _ in range(rng.randint(0, 19)))
        self.index = rng.randrange(8)
        if self.conversion == "%":
            self.text, self.star = "%%", None
        else:
            self.text = f"%{flags}{width}{precision}{self.length}{self.conversion}"

    def expressions(self) -> list[str]:
        """Return the arguments in C."""
        star = [] if self.star is None else [str(self.star)]
        if self.conversion == "%":
            return []
        at = f"8 * THREAD + {self.index}"
        if self.conversion == "s":
            return [*star, f'"{self.string}"']
        if self.conversion == "c":
            return [*star, f"(int)('a' + (integers[{at}] & 15))"]
        if self.conversion == "p":
            return [*star, f"(void *)integers[{at}]"]
        if self.conversion in "diouxX":
            return [*star, f"({_INTEGERS[self.length]})integers[{at}]"]
        return [*star, f"doubles[{at}]"]

    def arguments(self, integers: list[int], doubles: list[float]) -> list[object]:
        """Return them for libc, of a thread with these numbers."""
        star: list[object] = [] if self.star is None else [ctypes.c_int(self.star)]
        if self.conversion == "%":
            return []
        integer = integers[self.index]
        if self.conversion == "s":
            return [*star, ctypes.c_char_p(self.string.encode())]
        if self.conversion == "c":
            return [*star, ctypes.c_int(ord("a") + (integer & 15))]
        if self.conversion == "p":
            return [*star, ctypes.c_void_p(integer)]
        if self.conversion in "diouxX":
            return [*star, ctypes.c_uint64(integer & (1 << 64) - 1)]
        return [*star, ctypes.c_double(doubles[self.index])]


class PrintfProgram:
    """A kernel of random printf statements, for one wave. integers, doubles: its arguments."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self._statements = [[Placeholder(rng) for _ in range(rng.randint(0, 5))] for _ in range(8)]
        count = 8 * THREADS
        bits = [rng.getrandbits(rng.choice([4, 31, 63])) for _ in range(count)]
        self.integers = np.array(bits, np.int64) * np.array([rng.choice([1, -1]) for _ in bits])
        special = [0.0, -0.0, 1.5, float("inf"), float("-inf"), 1e300, 5e-324, 0.5]
        self.doubles = np.array(
            [
                rng.choice([*special, rng.gauss(0, 1), rng.gauss(0, 1e9), _any_double(rng)])
                for _ in range(count)
            ]
        )

    @property
    def source(self) -> str:
        """The kernel."""
        lines = []
        for number, placeholders in enumerate(self._statements):
            arguments = [text for each in placeholders for text in each.expressions()]
            lines.append(f"printf({', '.join([_quoted(self._form(number)), *arguments])});")
        body = "\n  ".join(lines)
        return f"KERNEL texts(long *integers, double *doubles) {{\n  {body}\n}}\n"

    def expected(self) -> bytes:
        """Return what it prints: one statement after the other, each for all lanes."""
        texts = []
        for number, placeholders in enumerate(self._statements):
            for thread in range(THREADS):
                own = slice(8 * thread, 8 * thread + 8)
                numbers = self.integers[own].tolist(), self.doubles[own].tolist()
                arguments = [value for each in placeholders for value in each.arguments(*numbers)]
                texts.append(libc_text(self._form(number).encode(), arguments))
        return b"".join(texts)

    def _form(self, number: int) -> str:
        words = [each.text for each in self._statements[number]]
        return f"{number}:" + "|".join(words) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\n", "\\n") + '"'


def _any_double(rng: random.Random) -> float:
    value: float = struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0]
    return 0.25 if value != value else value
