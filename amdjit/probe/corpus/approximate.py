"""Approximate instructions and conversions over all inputs of 16 bits and less, and over dense
samples of f32 and f64, of which the file keeps the results themselves; and approximate instructions
over whole domains of f32, of which it keeps digests."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

import amdjit
from amdjit.probe.case import Batch, Case, Group, Results, certainty_of
from amdjit.probe.machine_code import Program, s, v
from amdjit.target import Target

__all__ = ["batches"]

Words = NDArray[np.uint32]
_GROUP = 256  # work-items of a workgroup
_RANDOM = 1 << 20  # random numbers of a dense sample, as many of each exponent
_FRACTIONS = 512  # of each exponent, evenly spread
_DTYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i16": np.int16,
    "u32": np.uint32, "u64": np.uint64,
}  # fmt: skip


@dataclass(frozen=True)
class Function:
    """An instruction to sample."""

    mnemonic: str
    sample: str
    """See `_SAMPLES`."""
    result: str
    """What it returns."""
    second: str = ""
    """The samples of a second source, empty if there is none."""
    words: tuple[int, int] = (1, 1)
    """Dwords of source and result."""
    scalar: bool = False
    """Whether it has scalar operands."""


_NAMES = ("rcp", "rsq", "sqrt", "exp", "log", "sin", "cos", "tanh")
_TABLE: dict[str, tuple[Function, ...]] = {
    "f16": tuple(Function(f"v_{name}_f16", "all f16", "f16") for name in _NAMES),
    "f32 rcp rsq": tuple(
        Function(f"v_{name}_f32", "dense f32", "f32") for name in ("rcp", "rsq", "rcp_iflag")
    ),
    "f32 sqrt exp log": tuple(
        Function(f"v_{name}_f32", "dense f32", "f32") for name in ("sqrt", "exp", "log")
    ),
    "f32 sin cos": tuple(
        Function(f"v_{name}_f32", "dense f32", "f32") for name in ("sin", "cos", "tanh")
    ),
    "f64": tuple(
        Function(f"v_{name}_f64", sample, "f64", words=(2, 2))
        for name in ("rcp", "rsq", "sqrt")
        for sample in ("some f64", "dense f64")
    ),
    "scalar": tuple(
        Function(f"v_s_{name}_{kind}", f"few {kind}", kind, scalar=True)
        for name in ("exp", "log", "rcp", "rsq", "sqrt")
        for kind in ("f32", "f16")
    ),
    "conversions of 16 bits": (
        *(
            Function(f"v_cvt_{to}_f16", "all f16", result)
            for to, result in (
                ("f32", "f32"), ("i16", "i16"), ("u16", "i16"), ("norm_i16", "i16"),
                ("norm_u16", "i16"),
            )
        ),
        *(Function(f"v_cvt_f16_{of}", "all f16", "f16") for of in ("i16", "u16")),
        Function("v_frexp_mant_f16", "all f16", "f16"),
        Function("v_frexp_exp_i16_f16", "all f16", "i16"),
        Function("v_fract_f16", "all f16", "f16"),
        Function("v_cvt_f32_bf16", "all f16", "f32"),
        *(Function(f"v_cvt_f32_{of}", "all bytes", "f32") for of in ("fp8", "bf8")),
        *(
            Function(f"v_cvt_pk_f32_{of}", "all bytes", "u64", words=(1, 2))
            for of in ("fp8", "bf8")
        ),
        Function("v_cvt_off_f32_i4", "all bytes", "f32"),
    ),
    "conversions of f32": (
        *(
            Function(f"v_cvt_{to}_f32", "some f32", result)
            for to, result in (
                ("f16", "f16"), ("i32", "i32"), ("u32", "u32"), ("nearest_i32", "i32"),
                ("floor_i32", "i32"), ("rpi_i32", "i32"), ("flr_i32", "i32"),
            )
        ),
        *(Function(f"v_cvt_f32_{of}", "any u32", "f32") for of in ("i32", "u32")),
        Function("v_frexp_mant_f32", "some f32", "f32"),
        Function("v_fract_f32", "some f32", "f32"),
        *(
            Function(f"v_cvt_{name}_f32", "some f32", "u32", second)
            for name, second in (
                ("pk_fp8", "some f32"), ("pk_bf8", "some f32"), ("sr_fp8", "any u32"),
                ("sr_bf8", "any u32"), ("pk_bf16", "some f32"), ("sr_f16", "any u32"),
                ("sr_bf16", "any u32"),
            )
        ),
        *(
            Function(name, "some f32", "u32", "some f32")
            for name in (
                "v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32", "v_cvt_pk_norm_i16_f32",
                "v_cvt_pk_norm_u16_f32", "v_cvt_pknorm_i16_f32", "v_cvt_pknorm_u16_f32",
            )
        ),
    ),
    "conversions of f64": (
        Function("v_cvt_f64_f32", "some f32", "f64", words=(1, 2)),
        Function("v_cvt_f64_i32", "any u32", "f64", words=(1, 2)),
        Function("v_cvt_f32_f64", "some f64", "f32", words=(2, 1)),
        Function("v_cvt_i32_f64", "some f64", "i32", words=(2, 1)),
        Function("v_cvt_u32_f64", "some f64", "u32", words=(2, 1)),
    ),
}  # fmt: skip
_QUICK = "f16"


@dataclass(frozen=True)
class Domain:
    """Numbers that are all tried."""

    name: str
    count: int
    bits: Callable[[Words], Words]
    """From their place to their bits."""


def _from(first: int) -> Callable[[Words], Words]:
    return lambda places: places + np.uint32(first)


def _fractions(sign: int) -> Callable[[Words], Words]:
    return lambda places: (places * 2.0**-24).astype(np.float32).view(np.uint32) | np.uint32(sign)


_MANTISSAS = Domain("all of [1, 2)", 1 << 23, _from(0x3F800000))
_SQUARES = Domain("all of [1, 4)", 1 << 24, _from(0x3F800000))
_AROUND_ONE = Domain("all of [1/2, 2)", 1 << 24, _from(0x3F000000))
_UNIT = Domain("all multiples of 2**-24 in [0, 1)", 1 << 24, _fractions(0))
_NEGATIVE = Domain("all multiples of 2**-24 in (-1, -0]", 1 << 24, _fractions(1 << 31))
_WHOLE: dict[str, tuple[tuple[str, Domain], ...]] = {
    "whole rcp rsq sqrt": (
        ("v_rcp_f32", _MANTISSAS), ("v_rsq_f32", _SQUARES), ("v_sqrt_f32", _SQUARES),
    ),
    "whole exp log": (("v_exp_f32", _UNIT), ("v_exp_f32", _NEGATIVE), ("v_log_f32", _AROUND_ONE)),
    "whole sin cos": (("v_sin_f32", _UNIT), ("v_cos_f32", _UNIT)),
}  # fmt: skip
# Numbers of a launch, and of a digest.
_PART, _CHUNK = 1 << 20, 1 << 10


def batches(target: Target) -> tuple[Batch, ...]:
    """Return the batches of approximate instructions, one for each part of the tables."""
    whole = tuple(
        Batch(
            f"approximate/{part}", Group.APPROXIMATE, seconds=180.0,
            cases=partial(_whole_cases, part), expected=5.0,
        )
        for part in _WHOLE
    )  # fmt: skip
    return whole + tuple(
        Batch(
            f"approximate/{part}", Group.APPROXIMATE, seconds=180.0, is_quick=part == _QUICK,
            cases=partial(_cases, part), expected=3.0 if part == _QUICK else 5.0,
        )
        for part in _TABLE
        if part != "scalar" or target.isa[0] >= 12
    )  # fmt: skip


def _whole_cases(part: str, target: Target) -> Iterator[Case]:
    for mnemonic, domain in _WHOLE[part]:
        yield Case(
            f"{mnemonic}, {domain.name}",
            mnemonic,
            partial(_digests, Function(mnemonic, "", "u32"), domain, target),
            partial(_chunk, domain),
            certainty_of(mnemonic, target),
            keeps=True,
        )


def _digests(function: Function, domain: Domain, target: Target) -> Results:
    """Return a digest of each chunk of the results."""
    places = np.arange(domain.count, dtype=np.uint32)
    found = [
        xxhash.xxh3_64_intdigest(chunk.tobytes())
        for part in np.split(places, domain.count // _PART)
        for chunk in _applied(function, [domain.bits(part)[None]], target).reshape(-1, _CHUNK)
    ]
    return (np.array(found, np.uint64),)


def _chunk(domain: Domain, result: int, element: int) -> str:
    places = np.array([element * _CHUNK, element * _CHUNK + _CHUNK - 1], np.uint32)
    first, last = domain.bits(places)
    return f"a digest of the results for {first:#x} to {last:#x}"


def _cases(part: str, target: Target) -> Iterator[Case]:
    known = Program(target, target.wave_size)
    for function in _TABLE[part]:
        if known.has(function.mnemonic):
            yield Case(
                f"{function.mnemonic}, {function.sample}",
                function.mnemonic,
                partial(_run, function, target),
                partial(_inputs, function),
                certainty_of(function.mnemonic, target),
                keeps=True,
            )


def _run(function: Function, target: Target) -> Results:
    sources = [_sample(function, which) for which in range(2 if function.second else 1)]
    return (_applied(function, sources, target),)


def _applied(function: Function, sources: list[Words], target: Target) -> NDArray[Any]:
    """Return what an instruction returns for sources, which have a row for each dword."""
    count, size = sources[0].shape[1], 64 if function.scalar else _GROUP
    groups = count if function.scalar else -(-count // size)
    row = count if function.scalar else groups * size
    given = np.zeros((sum(len(each) for each in sources), row), np.uint32)
    given[:, :count] = np.concatenate(sources)
    results = amdjit.zeros(function.words[1] * groups * size, np.uint32)
    kernel = amdjit.load(_code(function, target, row)).kernels["kernel"]
    kernel[groups, size](amdjit.to_device(given.reshape(-1)), results)
    found = results.copy_to_host().reshape(function.words[1], -1)
    kept = found[:, ::size] if function.scalar else found[:, :count]
    return _typed(kept, function.result)


def _typed(words: Words, result: str) -> NDArray[Any]:
    dtype = np.dtype(_DTYPES[result])
    if dtype.itemsize == 2:
        return words[0].astype(np.uint16).view(dtype)
    return np.ascontiguousarray(words.T).view(dtype).reshape(-1)


@cache
def _code(function: Function, target: Target, row: int) -> bytes:
    """Return a kernel that applies an instruction to each source. row: sources of a row; there is a
    row for each dword of them."""
    size = 64 if function.scalar else _GROUP
    program = Program(target, target.wave_size)
    program.begin(size)
    if function.scalar:
        _add_scalar(program, function)
        return program.code_object(max_group_size=size)
    wide, long = function.words
    for word in range(wide):
        program.load(v(2 + word), word * 4 * row)
    if function.second:
        program.load(v(4), 4 * row)
    for word in range(long):
        program.safe("v_mov_b32", v(6 + word), 0)
    operands = [v(6, long), v(2, wide)] + ([v(4)] if function.second else [])
    program.safe(function.mnemonic, *operands)
    for word in range(long):
        program.store(v(6 + word), word * 4 * row)
    return program.code_object(max_group_size=size)


def _add_scalar(program: Program, function: Function) -> None:
    """Each workgroup takes one source, as all its lanes do."""
    program.safe("v_mov_b32", v(8), s(4))
    program.safe("v_lshlrev_b32", v(8), 2, v(8))
    program.safe("global_load_b32", v(2), v(8), s(0, 2))
    program.safe("v_readfirstlane_b32", s(20), v(2))
    program.safe(function.mnemonic, s(21), s(20))
    program.safe("v_mov_b32", v(6), s(21))
    program.store(v(6), 0)


@cache
def _sample(function: Function, which: int) -> Words:
    """Return the sources, a row for each dword."""
    name = function.second if which else function.sample
    random = np.random.default_rng(zlib.crc32(f"{name} {which}".encode()))
    words = _SAMPLES[name](random)
    if not which and function.second:
        return words
    return words if not which else words[:, : _sample(function, 0).shape[1]]


def _all_halves(random: np.random.Generator) -> Words:
    return np.arange(1 << 16, dtype=np.uint32)[None]


def _all_bytes(random: np.random.Generator) -> Words:
    return np.arange(1 << 8, dtype=np.uint32)[None] | np.uint32(0x40000000)


def _floats(random: np.random.Generator, fractions: int, more: int) -> Words:
    """Return f32 of every exponent and sign with evenly spread fractions, the special ones, and
    random ones: as many of each exponent."""
    upper = np.arange(512, dtype=np.uint32)[:, None] << np.uint32(23)
    step = (1 << 23) // fractions
    spread = np.arange(0, 1 << 23, step, dtype=np.uint32)[None]
    edges = np.array([1, 2, (1 << 22) + 1, (1 << 23) - 2, (1 << 23) - 1], np.uint32)[None]
    others = random.integers(0, 1 << 23, (512, more // 512), dtype=np.uint32)
    return np.concatenate([(upper | each).reshape(-1) for each in (spread, edges, others)])[None]


def _dense_floats(random: np.random.Generator) -> Words:
    return _floats(random, _FRACTIONS, _RANDOM)


def _some_floats(random: np.random.Generator) -> Words:
    words = _floats(random, 64, 1 << 16)[0]
    return random.permutation(words)[None]


def _few_floats(random: np.random.Generator) -> Words:
    return _floats(random, 2, 1 << 10)


def _few_halves(random: np.random.Generator) -> Words:
    return random.permutation(1 << 16)[:4096].astype(np.uint32)[None]


def _some_doubles(random: np.random.Generator) -> Words:
    """Return f64 of every exponent and sign: their lower and their upper halves."""
    high = np.arange(4096, dtype=np.uint32)[:, None] << np.uint32(20)
    high = (high | random.integers(0, 1 << 20, (4096, 24), dtype=np.uint32)).reshape(-1)
    low = random.integers(0, 1 << 32, high.size, dtype=np.uint32)
    edges = np.array([0, 1, 0x3FF, 0x400, 0x433, 0x7FE, 0x7FF, 0x800, 0xBFF, 0xFFF], np.uint32)
    ends = np.array([0, 1, (1 << 20) - 1], np.uint32)
    more = (edges[:, None] << np.uint32(20) | ends).reshape(-1)
    lows = np.resize(np.array([0, 1, 0xFFFFFFFF], np.uint32), more.size)
    return np.stack([np.concatenate([low, lows, 0 * lows]), np.concatenate([high, more, more])])


def _dense_doubles(random: np.random.Generator) -> Words:
    """Return evenly spread f64 of [1, 4), as two dwords: their results show the segments and the
    coefficients by which the bits are made."""
    high = np.arange(1 << 17, dtype=np.uint32) * np.uint32(1 << 4) + np.uint32(0x3FF00000)
    return np.stack([random.integers(0, 1 << 32, high.size, dtype=np.uint32), high])


def _any_words(random: np.random.Generator) -> Words:
    edges = np.array([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
    shifted = np.uint32(1) << np.arange(32, dtype=np.uint32)
    others = random.integers(0, 1 << 32, 1 << 17, dtype=np.uint32)
    near = np.concatenate([shifted, shifted - np.uint32(1), shifted + np.uint32(1)])
    return np.concatenate([edges, near, others >> random.integers(0, 32, 1 << 17, np.uint32)])[None]


_SAMPLES = {
    "all f16": _all_halves, "all bytes": _all_bytes, "dense f32": _dense_floats,
    "some f32": _some_floats, "few f32": _few_floats, "few f16": _few_halves,
    "some f64": _some_doubles, "dense f64": _dense_doubles, "any u32": _any_words,
}  # fmt: skip


def _inputs(function: Function, result: int, element: int) -> str:
    """Say what an instruction was given, in hexadecimal bits and as a number."""
    words = [int(word) for word in _sample(function, 0)[:, element]]
    bits = sum(word << 32 * place for place, word in enumerate(words))
    kind = function.sample.rpartition(" ")[2]
    text = f"{bits:#x}"
    if kind in ("f16", "f32", "f64"):
        dtype = np.dtype(_DTYPES[kind])
        number = np.array([bits], np.uint64).astype(f"u{dtype.itemsize}").view(dtype)[0]
        text += f" ({number})"
    if function.second:
        text += f" and {int(_sample(function, 1)[0, element]):#x}"
    return text
