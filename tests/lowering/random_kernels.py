"""Random kernels for what LLVM's back end may get wrong, and the same text run by Python with
NumPy's scalars.

A kernel is some statements of their own. Each is a choice by a short circuit around loads, a
product that becomes a half, a subtraction from zero, or an expression of all of these; it reads
elements of its lane, or in its uniform twin of one place. Every scalar argument is read once: LLVM
moves what is read once to where it is.
"""

from __future__ import annotations

import linecache
import random
import re
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

import amdjit

LANES = 64
STATEMENTS = 3
FLOATS = ("f16", "bf16", "f32")
INTEGERS = ("i32", "u8", "u64", "i64")
NUMPY: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "i32": np.int32,
    "u8": np.uint8,
    "u64": np.uint64,
    "i64": np.int64,
}
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1.0,
    -1.0,
    0.125,
    65504.0,
    6e-8,
    -6e-8,
    3e-5,
    1e-40,
    2.5,
    -7.0,
    1e-20,
]


class Writer:
    """Writes one kernel; `scalars` are the types of its scalar arguments, in order."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.types = ("f16", "f32", *self._random.sample(INTEGERS, 2))
        if self._random.random() < 0.3:
            self.types += ("bf16",)
        self.scalars: list[str] = []

    def kernel(self) -> str:
        # LLVM has most freedom with one choice alone.
        is_single = self._random.random() < 0.6
        lines: list[str] = []
        for n in range(1 if is_single else STATEMENTS):
            place = self._one("t", "t", "t", "t", "k")
            statement = self._choice(n) if is_single else self._statement(n)
            lines += ["    " + line.replace("{t}", place) for line in statement]
        inputs = [f"a_{type}: {type}[:]" for type in self.types]
        outputs = [f"o_{type}: {type}[:, :]" for type in self.types]
        scalars = [f"s{n}: {type}" for n, type in enumerate(self.scalars)]
        rest = ["b: boolean[:]", "perm: i32[:]", "k: i32", "n: i32", "m: i32"]
        header = f"def program({', '.join([*inputs, *outputs, *rest, *scalars])}) -> None:"
        start = ["    t = threadIdx.x", "    box = perm"]
        if not is_single:
            start[1:] = [
                "    box = shared.array(64, i32)",
                "    box[t] = perm[t]",
                "    syncthreads()",
            ]
        return "\n".join([header, *start, *lines]) + "\n"

    def _one(self, *choices: Any) -> Any:
        return self._random.choice(choices)

    def _statement(self, n: int) -> list[str]:
        kind = self._random.randrange(8)
        if kind == 0:
            return [f"o_f16[{n}, t] = {self._product()}"]
        if kind == 1:
            type = self._one("f16", "f32")
            by = self._one("", f" * {self._leaf(type)}")
            return [f"o_{type}[{n}, t] = (0 - {self._leaf(type)}){by}"]
        type = self._one(*self.types)
        to = f"o_{type}[{n}, t]"
        if kind == 2:
            return [f"{to} = {self._expression(type, 2)}"]
        return self._choice(n)

    def _choice(self, n: int) -> list[str]:
        type, kind = self._one(*self.types), self._random.randrange(5)
        to = f"o_{type}[{n}, t]"
        yes, no, condition = self._simple(type), self._simple(type), self._condition()
        if kind == 0:
            return [f"if {condition}:", f"    {to} = {yes}", "else:", f"    {to} = {no}"]
        if kind == 1:
            return [f"v{n} = {no}", f"if {condition}:", f"    v{n} = {yes}", f"{to} = v{n}"]
        return [f"{to} = {yes} if {condition} else {no}"]

    def _condition(self) -> str:
        first = self._one("{t} < n", "{t} < n", "{t} < n", self._test(), self._load())
        right = self._one(f"b[{{t}} ^ {self._random.randrange(LANES)}]", self._load())
        nested = f"({self._one('b[box[{t}]]', self._load())} {self._one('and', 'or')} {right})"
        second = self._one("b[box[{t}]]", nested, nested)
        parts = [first, second] if self._random.random() < 0.9 else [second, first]
        if self._random.random() < 0.4:
            parts.append(self._load())
        words = [parts[0]]
        for part in parts[1:]:
            words += [self._one("and", "or"), part]
        return " ".join(words)

    def _test(self) -> str:
        type = self._one(*self.types)
        return f"{self._leaf(type)} {self._one('<', '==', '>=')} {self._leaf(type)}"

    def _load(self) -> str:
        return f"b[{self._index()}]"

    def _index(self) -> str:
        place = self._random.randrange(LANES)
        spread = self._one("box[n // m & 63]", "box[{t} * 5 // m & 63]", "perm[{t}]")
        return self._one(
            "{t}", f"{{t}} ^ {place}", "box[{t}]", "box[{t}]", "63", str(place), spread
        )

    def _leaf(self, type: str) -> str:
        return self._one(self._element, self._element, self._scalar, self._scalar, self._number)(
            type
        )

    def _element(self, type: str) -> str:
        return f"a_{type}[{self._index()}]"

    def _scalar(self, type: str) -> str:
        self.scalars.append(type)
        return f"s{len(self.scalars) - 1}"

    def _number(self, type: str) -> str:
        if self._random.random() < 0.5:
            return f"{type}({self._one('k', 'n', '{t}')})"
        if type in FLOATS:
            return (
                f"{type}({self._one('0.0', '-0.0', '1.0', '-1.0', '0.125', '4.0', '-3.5', '0.1')})"
            )
        return f"{type}({self._one(0, 1, 3, 63, 100)})"

    def _simple(self, type: str) -> str:
        """Write statements that cost nothing, more often than not, since LLVM moves them."""
        kind = self._random.random()
        if kind < 0.45:
            return self._scalar(type)
        if kind < 0.85:
            return (
                f"-{self._scalar(type)}" if type in FLOATS else f"{type}({self._one('{t}', 'n')})"
            )
        return self._converted(type) if kind < 0.92 else self._leaf(type)

    def _converted(self, type: str, depth: int = 0) -> str:
        kinds = FLOATS if type in FLOATS else INTEGERS
        other = self._one(*(name for name in self.types if name in kinds and name != type))
        return f"{type}({self._expression(other, depth)})"

    def _product(self) -> str:
        factors = [self._leaf("f32"), f"f32({self._leaf('f16')})", f"(-{self._leaf('f32')})"]
        return (
            f"f16({self._one('', '-')}({self._one(*factors)} * "
            f"{self._one(*factors, '0.125', '-4.0')}))"
        )

    def _expression(self, type: str, depth: int) -> str:
        kind = self._random.random()
        if depth <= 0 or kind < 0.15:
            return self._leaf(type)
        if kind < 0.4:
            return (
                f"({self._expression(type, depth - 1)} if {self._condition()} else "
                f"{self._expression(type, depth - 1)})"
            )
        if kind < 0.6:
            return self._converted(type, depth - 1)
        left, right = self._expression(type, depth - 1), self._expression(type, depth - 1)
        if type not in FLOATS:
            return f"({left} {self._one('+', '-', '*', '&', '|', '^')} {right})"
        number = self._one("0", "1", "2.0", "0.125", "-1.0")
        number = f"bf16({number})" if type == "bf16" else number
        forms = [f"({left} {operator} {right})" for operator in "+-**"]
        forms += [f"(-{left})", f"abs({left})", f"min({left}, {right})", f"max({left}, {right})"]
        forms += [f"({left} * {number})", f"({number} - {left})", f"({number} * {left})"]
        return str(self._one(*forms))


def inputs(writer: Writer, seed: int) -> tuple[list[Any], list[Any]]:
    """Return the arrays that the kernel reads, and what follows its results: b, perm, k, n, m and
    scalars."""
    source = np.random.default_rng(seed)
    arrays = []
    for type in writer.types:
        if type in FLOATS:
            values = source.choice([0.25, 1, 3.1, 1e-3], LANES) * source.integers(-20, 20, LANES)
            values = np.where(source.random(LANES) < 0.4, source.choice(SPECIAL, LANES), values)
        else:
            values = source.integers(0, 100, LANES)
        arrays.append(values.astype(NUMPY[type]))
    chosen = dict(zip(writer.types, arrays, strict=True))
    # Some lanes are below n, and some are not.
    numbers = [
        np.int32(source.integers(0, LANES)),
        np.int32(source.integers(8, 56)),
        np.int32(source.integers(1, 9)),
    ]
    flags = source.random(LANES) < 0.5
    scalars = [source.choice(chosen[type]) for type in writer.scalars]
    return arrays, [flags, source.permutation(LANES).astype(np.int32), *numbers, *scalars]


def define(source: str, names: dict[str, Any]) -> Any:
    """Run source whose lines can be read back."""
    file = f"<random kernel {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found = dict(names)
    exec(compile(source, file, "exec", dont_inherit=True), found)
    return found["program"]


def as_kernel(source: str) -> Any:
    words = ("boolean", "threadIdx", "shared", "syncthreads", *NUMPY)
    return define(source, {word: getattr(amdjit, word) for word in words})


def run_by_python(source: str, permutation: Any, arguments: list[Any]) -> None:
    """Run a kernel's text lane by lane, without its annotations."""
    head, body = source.split("\n", 1)
    lane = SimpleNamespace(x=np.int32(0))
    names = {
        **NUMPY,
        "threadIdx": lane,
        # All lanes have written when the first one reads.
        "shared": SimpleNamespace(array=lambda *_: permutation.copy()),
        "syncthreads": lambda: None,
        "min": lambda a, b: _extreme(a, b, True),
        "max": lambda a, b: _extreme(a, b, False),
    }
    program = define(
        re.sub(r": \w+(?:\[[:, ]*\])?(?=[,)])| -> None", "", head) + "\n" + body, names
    )
    with np.errstate(all="ignore"):
        for number in range(LANES):
            lane.x = np.int32(number)
            program(*arguments)


def _extreme(a: Any, b: Any, least: bool) -> Any:
    """Return `min` or `max` of floats as in kernels: NaN if an operand is NaN, and -0.0 is below
    0.0."""
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        negative = np.signbit(np.float64(a))
        return a if negative == least else b
    return min(a, b) if least else max(a, b)


def wrong(seed: int, *, level: int, wave_size: int, bounds_check: bool) -> str:
    """Return the kernel and where its results differ from Python's; an empty string if they
    agree."""
    writer = Writer(seed)
    source = writer.kernel()
    arrays, rest = inputs(writer, seed)
    found, expected = (
        [np.zeros((STATEMENTS, LANES), NUMPY[type]) for type in writer.types] for _ in range(2)
    )
    run_by_python(source, rest[1], [*arrays, *expected, *rest])
    options = {
        "opt_level": level,
        "wave_size": wave_size,
        "bounds_check": bounds_check,
        "warnings": False,
    }
    with amdjit.use("emulator:gfx1201"):
        amdjit.kernel(**options)(as_kernel(source))[1, LANES](*arrays, *found, *rest)
    for type, mine, right in zip(writer.types, found, expected, strict=True):
        bits = f"u{mine.itemsize}"
        differ = mine.view(bits) != right.view(bits)
        if type in FLOATS:
            differ &= ~(np.isnan(mine.astype(np.float64)) & np.isnan(right.astype(np.float64)))
        if differ.any():
            row, lane = (int(place) for place in np.argwhere(differ)[0])
            return (
                f"{source}\n{options}: o_{type}[{row}, {lane}] is {mine[row, lane]!r}, not "
                f"{right[row, lane]!r}"
            )
    return ""
