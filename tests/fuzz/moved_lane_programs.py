"""Random programs in which lanes exchange values in patterns, and what they compute, by the models
of the exchanges.

What is moved is a constant, the same in all lanes, or different in each; and it is then added,
multiplied, masked, shifted, compared or combined with others in three-operand and 64-bit
operations. LLVM makes such moves part of the instructions that use them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import amdjit
from amdjit import f16, f32, f64, i16, i32, i64, u8, u16, u32, u64
from amdjit.intrinsics import amdgcn, wave
from amdjit.types import Scalar

LANES = 64
"""Work-items: one wave of 64 or two of 32."""

TYPES = (i32, u32, i64, u64, i16, u16, u8, f32, f64, f16)
_WEIGHTS = (9, 6, 3, 2, 1, 1, 1, 2, 1, 1)
_CONSTANTS = (0, 1, 2, 3, 7, 16, 63, 64, 65, 100, 255, 65535, 0xFFFFFF, 0x7FFFFFFF, -1, -7, -16)
# Floats are small integers: no sum or product of theirs is rounded.
_EXACT = {f16: 1 << 11, f32: 1 << 24, f64: 1 << 50}
_LEAF = 4


@amdjit.device_function(inline=False)
def far_sum(value, other):
    """Return a sum with moved values, in a function of its own."""
    return wave.row_shr(value, 1) + other * 3 + wave.quad_perm(i32(5), 0, 0, 2, 2)


NAMES = {"amdjit": amdjit, "wave": wave, "amdgcn": amdgcn, "far_sum": far_sum} | {
    str(type): type for type in TYPES
}


@dataclass(frozen=True)
class Value:
    """What a variable of the program holds, in each lane. bound: no float is larger."""

    name: str
    type: Scalar
    lanes: Any
    bound: int = 0


@dataclass
class Program:
    """Statements, the values that they compute, and the arrays that they read."""

    random: Random
    is_rdna: bool
    wave_size: int
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    inputs: dict[Scalar, Any] = field(default_factory=dict)

    def keep(self, type: Scalar, text: str, lanes: Any, bound: int = 0) -> Value:
        """Write a statement that gives a new variable its value."""
        with np.errstate(all="ignore"):
            whole = np.broadcast_to(np.asarray(lanes), (LANES,)).astype(type.dtype)
        value = Value(f"v{len(self.values)}", type, whole, bound)
        self.lines.append(f"{value.name} = {type}({text})")
        self.values.append(value)
        return value

    def waves(self, lanes: Any) -> Any:
        """Return the lanes of each wave."""
        return lanes.reshape(-1, self.wave_size)

    def text(self) -> str:
        """Return the kernel's source."""
        arrays = ", ".join([f"a_{type}" for type in TYPES] + [f"o_{type}" for type in TYPES])
        head = f"def kernel({arrays}, n):\n    t = amdjit.threadIdx.x\n"
        return head + "".join(f"    {line}\n" for line in self.lines)

    def results(self) -> dict[Scalar, Any]:
        """Return what the kernel writes into the array of each type."""
        rows = {type: np.zeros((len(self.outputs) + 1, LANES), type.dtype) for type in TYPES}
        for number, value in enumerate(self.outputs):
            rows[value.type][number] = value.lanes
        return rows


UNIFORM = 5
"""The kernel's argument `n`."""


def random_program(random: Random, is_rdna: bool, wave_size: int, length: int = 30) -> Program:
    """Write statements that move and combine values, and stores of most of them."""
    program = Program(random, is_rdna, wave_size)
    numbers = np.random.default_rng(random.randrange(1 << 30))
    for type in TYPES:
        low, high = (-_LEAF, _LEAF + 1) if type in _EXACT else (-(1 << 31), 1 << 31)
        array = numbers.integers(low, high, 4 * LANES)
        wide = array if type in _EXACT else array * int(numbers.integers(1, 1 << 31))
        program.inputs[type] = wide.astype(type.dtype)
    for _ in range(length):
        random.choices((used_once, combined, converted), (6, 2, 1))[0](program)
    used = " ".join(line.partition("=")[2] for line in program.lines)
    for value in list(program.values):
        if f"{value.name} " not in f"{used} ".replace(")", " ").replace(",", " ") or (
            random.random() < 0.1
        ):
            program.lines.append(f"o_{value.type}[{len(program.outputs)}, t] = {value.name}")
            program.outputs.append(value)
    return program


_ANY = ("constant", "uniform", "own", "own")
_MOVED = ("constant", "constant", "uniform", "own")


def leaf(program: Program, type: Scalar, kinds: tuple[str, ...] = _ANY) -> Value:
    """Write a constant, a value that all lanes share, or one for each lane."""
    random, array = program.random, program.inputs[type]
    kind = random.choice(kinds)
    bound = _LEAF if type in _EXACT else 0
    if kind == "constant":
        number = random.choice((0, 1, 2, -1, 4) if bound else _CONSTANTS)
        if not (bound or type.is_signed):
            number = abs(number)
        bits = 0 if bound else type.bits
        number = number if not bits else number & (1 << (bits - type.is_signed)) - 1
        return program.keep(type, str(number), number, bound)
    place = random.randrange(LANES)
    if kind == "uniform":
        if type is i32 and random.random() < 0.5:
            return program.keep(type, "n", UNIFORM)
        return program.keep(type, f"a_{type}[{place}]", array[place], bound)
    return program.keep(type, f"a_{type}[t + {place}]", array[place : place + LANES], bound)


def operand(program: Program, type: Scalar) -> Value:
    """Return an older value, a recent one if there are many, or a new one."""
    known = [value for value in program.values if value.type is type][-6:]
    if known and program.random.random() < 0.7:
        return program.random.choice(known)
    return leaf(program, type)


def _type(program: Program) -> Scalar:
    return program.random.choices(TYPES, _WEIGHTS)[0]


def used_once(program: Program) -> None:
    """Write an exchange and an operation on its result: LLVM makes one instruction of both if
    nothing else needs the result."""
    moved(program)
    combined(program, program.values[-1])


def converted(program: Program) -> None:
    """Write a change between integer types."""
    integers = [type for type in TYPES if type not in _EXACT]
    value = operand(program, program.random.choice(integers))
    program.keep(program.random.choice(integers), value.name, value.lanes)


def moved(program: Program) -> None:
    """Write an exchange between lanes."""
    random, type = program.random, _type(program)
    value = leaf(program, type, _MOVED) if random.random() < 0.7 else operand(program, type)
    name, arguments = random.choice(_patterns(program))
    listed = ", ".join(map(str, (value.name, *arguments)))
    if name == "dpp":
        _by_control(program, value, random.random() < 0.5)
    elif name == "lane":
        lane = random.randrange(program.wave_size)
        lanes = np.repeat(program.waves(value.lanes)[:, lane], program.wave_size)
        program.keep(type, f"wave.readlane({value.name}, {lane})", lanes, value.bound)
    elif name == "far":
        _by_function(program)
    elif name == "scan" and type not in _EXACT:
        scan = random.choice(("inclusive_scan", "exclusive_scan", "reduce"))
        operation = random.choice(("add", "mul", "min", "max", "and", "or", "xor"))
        model = getattr(wave, scan)
        lanes = np.concatenate([model(part, operation) for part in program.waves(value.lanes)])
        program.keep(type, f'wave.{scan}({value.name}, "{operation}")', lanes)
    elif name != "scan":
        lanes = getattr(wave, name)(value.lanes, *arguments)
        program.keep(type, f"wave.{name}({listed})", lanes, value.bound)


def _patterns(program: Program) -> list[tuple[str, tuple[int, ...]]]:
    random = program.random
    count = random.randrange(1, 16)
    common: list[tuple[str, tuple[int, ...]]] = [
        ("quad_perm", tuple(random.randrange(4) for _ in range(4))),
        ("row_shl", (count,)),
        ("row_shr", (count,)),
        ("row_ror", (count,)),
        ("row_mirror", ()),
        ("row_half_mirror", ()),
        ("swizzle", (random.randrange(32), random.randrange(32), random.randrange(32))),
        *[("dpp", ())] * 5,
        ("lane", ()),
        ("far", ()),
        ("scan", ()),
    ]
    if not program.is_rdna:
        return common
    return [
        *common,
        ("row_share", (count,)),
        ("row_xmask", (count,)),
        ("permute8", tuple(random.randrange(8) for _ in range(8))),
        ("permlane16", (random.randrange(1 << 31), random.randrange(1 << 31))),
        ("permlanex16", (random.randrange(1 << 31), random.randrange(1 << 31))),
    ]


def _by_control(program: Program, value: Value, is_builtin: bool) -> None:
    """Write a move by a DPP control; lanes may keep an old value."""
    random = program.random
    controls = (*range(0x100), *range(0x101, 0x110), *range(0x111, 0x120), 0x121, 0x140, 0x141)
    control = random.choice((random.choice(controls), random.randrange(0x111, 0x120)))
    rows, banks = (random.choice((15, 15, random.randrange(16))) for _ in range(2))
    zero = random.random() < 0.5
    if is_builtin or not program.is_rdna:
        value = operand(program, i32)
    old = operand(program, value.type)
    if random.random() < 0.7:
        number = random.choice((0, 0, 1, 1, 2))
        old = program.keep(value.type, str(number), number, _LEAF if value.bound else 0)
    parts = zip(program.waves(old.lanes), program.waves(value.lanes), strict=True)
    lanes = np.concatenate([wave.dpp(*part, control, rows, banks, zero) for part in parts])
    bound = max(old.bound, value.bound)
    written = f"{old.name}, {value.name}, {control}, {rows}, {banks}, {zero}"
    name = "amdgcn.update_dpp" if is_builtin or not program.is_rdna else "wave.dpp"
    program.keep(value.type, f"{name}({written})", lanes, bound)


def _by_function(program: Program) -> None:
    value, other = operand(program, i32), operand(program, i32)
    five = np.full(LANES, 5, np.int32)
    with np.errstate(all="ignore"):
        lanes = wave.row_shr(value.lanes, 1) + other.lanes * np.int32(3)
        lanes = lanes + wave.quad_perm(five, 0, 0, 2, 2)
    program.keep(i32, f"far_sum({value.name}, {other.name})", lanes)


def combined(program: Program, one: Value | None = None) -> None:
    """Write an operation on values of one type, or one of 64 bits on values of 32.

    one: a value that takes part.
    """
    random = program.random
    type = one.type if one is not None else _type(program)
    others = [operand(program, type) for _ in range(3)]
    if one is not None:
        others[random.randrange(2)] = one
    a, b, c = others
    with np.errstate(all="ignore"):
        if type in _EXACT:
            _combine_floats(program, a, b)
        elif type.bits == 32 and random.random() < 0.2:
            _combine_wide(program, a, b)
        else:
            # With DPP, these are instructions of their own.
            form = random.choice(_FUSED if one is not None and random.random() < 0.7 else _FORMS)
            amount = random.randrange(type.bits)
            names = {"a": a.name, "b": b.name, "c": c.name, "k": f"{type}({amount})"}
            model = eval(
                form,
                {"min": np.minimum, "max": np.maximum, "where": np.where},
                {
                    "a": a.lanes,
                    "b": b.lanes,
                    "c": c.lanes,
                    "k": np.full(LANES, amount, type.dtype),
                    "low": type.dtype.type(min(0xFFFFFF, (1 << (type.bits - 1)) - 1)),
                },
            )
            names["low"] = f"{type}({min(0xFFFFFF, (1 << (type.bits - 1)) - 1)})"
            program.keep(type, _written(form, names), model)


_FUSED = (
    "a + b + c",
    "c + b + a",
    "(a << k) + b",
    "(a + b) << k",
    "(a & b) | c",
    "(a ^ b) + c",
    "(a | b) | c",
    "min(min(a, b), c)",
    "(a & low) * (b & low)",
    "(a & low) * (b & low)",
    "a * b + c",
)
_FORMS = (
    "a + b",
    "a - b",
    "a * b",
    "a & b",
    "a | b",
    "a ^ b",
    "a << k",
    "a >> k",
    "min(a, b)",
    "max(a, b)",
    "a + b + c",
    "a * b + c",
    "(a << k) + b",
    "(a + b) << k",
    "(a << k) | b",
    "(a & b) | c",
    "(a ^ b) + c",
    "(a | b) | c",
    "(a ^ b) ^ c",
    "min(min(a, b), c)",
    "max(max(a, b), c)",
    "max(min(a, b), min(max(a, b), c))",
    "(a & low) * (b & low)",
    "(a & low) * (b & low) + c",
    "(a >> k) & low",
    "where(a < b, b, c)",
    "where(a == b, a, c)",
    "a - (b * c)",
    "a & (b - 1)",
)


def _written(form: str, names: dict[str, str]) -> str:
    """Return a form in the kernel language, with its values' names."""
    if form.startswith("where("):
        condition, one, other = form.removeprefix("where(").removesuffix(")").split(", ")
        form = f"{one} if {condition} else {other}"
    words = form.replace("(", "( ").replace(")", " )").replace(",", " ,").split()
    return " ".join(names.get(word, word) for word in words)


def _combine_floats(program: Program, a: Value, b: Value) -> None:
    limit = _EXACT[a.type]
    forms = [("min({}, {})", np.minimum(a.lanes, b.lanes), max(a.bound, b.bound))]
    forms.append(("max({}, {})", np.maximum(a.lanes, b.lanes), max(a.bound, b.bound)))
    if a.bound + b.bound < limit:
        forms.append(("{} + {}", a.lanes + b.lanes, a.bound + b.bound))
        forms.append(("{} - {}", a.lanes - b.lanes, a.bound + b.bound))
    if a.bound * b.bound < limit:
        forms.append(("{} * {}", a.lanes * b.lanes, a.bound * b.bound))
    if a.bound * b.bound + a.bound < limit:
        forms.append(("{0} * {1} + {0}", a.lanes * b.lanes + a.lanes, a.bound * b.bound + a.bound))
    form, lanes, bound = program.random.choice(forms)
    program.keep(a.type, form.format(a.name, b.name), lanes, bound)


def _combine_wide(program: Program, a: Value, b: Value) -> None:
    wide = i64 if a.type is i32 else u64
    c = operand(program, wide)
    left, right = (each.lanes.astype(wide.dtype) for each in (a, b))
    forms = {
        "{w}({a}) * {w}({b}) + {c}": left * right + c.lanes,
        "{w}({a}) * {w}({b})": left * right,
        "{w}({a}) + {c}": left + c.lanes,
        "{c} - {w}({a})": c.lanes - left,
        "({w}({a}) << {w}(32)) | {w}({b})": (left << wide.dtype.type(32)) | right,
    }
    form = program.random.choice(list(forms))
    written = form.format(w=wide, a=a.name, b=b.name, c=c.name)
    program.keep(wide, written, forms[form])
