"""v_exp, v_log, v_rcp, v_rsq, v_sqrt, v_sin and v_cos, and their scalar forms, against results of a
gfx1201 and a gfx1100: single ones, and digests of whole domains."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit import bitcast, f32, u32
from amdjit.emulator.device import EmulatorDevice
from amdjit.emulator.host.jit import HostCompiler
from amdjit.intrinsics import amdgcn
from amdjit.isa.approximations import SINGLE_RULES, of_bits
from amdjit.target import find_target
from tests.emulator.building import assemble, emulate, using
from tests.emulator.required_tools import needs_tools
from tests.emulator.single_instruction import run_registers

pytestmark = needs_tools

Words = NDArray[np.uint32]

_HARDWARE = Path(__file__).parents[2] / "hardware"
RESULTS = json.loads((_HARDWARE / "approximate_results.json").read_text())
DIGESTS = {
    row["id"]: row["digest"]
    for row in json.loads((_HARDWARE / "approximate_digests.json").read_text())["digests"]
}
_FIVE = ("exp", "log", "rcp", "rsq", "sqrt")
_OMOD = {0: "", 1: " mul:2", 2: " mul:4", 3: " div:2"}
# FNV-1a by words and by bytes, of the words of an array.
_HASHES = """
define i64 @word(ptr %words, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %h = phi i64 [ -3750763034362895579, %entry ], [ %mixed, %loop ]
  %place = getelementptr i32, ptr %words, i64 %i
  %word = load i32, ptr %place
  %wide = zext i32 %word to i64
  %x = xor i64 %h, %wide
  %mixed = mul i64 %x, 1099511628211
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret i64 %mixed
}
"""


@cache
def _hash() -> Callable[[int, int], int]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_HASHES), machine)
    engine.finalize_object()
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)(
        engine.get_function_address("word")
    )

    def called(address: int, count: int, keep: object = engine) -> int:
        return int(function(address, count))

    return called


def word_hash(words: Words) -> str:
    words = np.ascontiguousarray(words, np.uint32)
    return f"{_hash()(words.ctypes.data, words.size):016x}"


def byte_hash(words: Words) -> str:
    return word_hash(np.ascontiguousarray(words, np.uint32).view(np.uint8).astype(np.uint32))


def instruction(name: str, kind: str, modifiers: str = "", source: str = "v1") -> str:
    """An instruction with `neg`, `abs`, `clamp` and output modifiers, from v1 to v100."""
    form = "_e64" if modifiers or source != "v1" else ""
    return f"  v_mov_b32 v100, 0\n  v_{name}_{kind}{form} v100, {source}{modifiers}\n"


def run(name: str, kind: str, bits: Words, modifiers: str = "", source: str = "v1", mode: int = 0xF0
        ) -> Words:  # fmt: skip
    """Run an instruction on a whole number of waves."""
    lanes = -(-bits.size // 32) * 32
    head = (
        f"  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 8), {mode & 0xFF:#x}\n"
        f"  s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 23, 1), {mode >> 23}\n"
    )
    body = head + instruction(name, kind, modifiers, source)
    return run_registers(body, np.resize(bits, lanes)[None], [100])[0][: bits.size]


def results(kind: str) -> Iterator[tuple[tuple[Any, ...], list[list[int]]]]:
    """Group results by instruction and settings: |x|, -x, output modifier, clamp, then for halves
    FP_DENORM and FP16_OVFL."""

    def settings(row: list[Any]) -> tuple[Any, ...]:
        rest = tuple(row[3:]) or (0, 0, 0, 0)
        return (row[0].lower(), *rest)

    return (
        (key, list(rows)) for key, rows in groupby(sorted(RESULTS[kind], key=settings), settings)
    )


@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_single_results_are_those_of_the_chip(kind: str) -> None:
    for (name, absolute, negated, omod, clamp, *mode), rows in results(kind):
        denormals, overflow = mode or (3, 0)
        source = ("-" if negated else "") + ("|v1|" if absolute else "v1")
        modifiers = (" clamp" if clamp else "") + _OMOD[omod]
        bits, expected = zip(*(row[1:3] for row in rows), strict=True)
        found = run(
            name, kind, np.array(bits, np.uint32), modifiers, source,
            (denormals << 6 | 0x30) | overflow << 23,
        )  # fmt: skip
        np.testing.assert_array_equal(found, expected, f"{name} {source}{modifiers} {mode}")


ALL = np.arange(1 << 24, dtype=np.uint32)
WHOLE_DOMAINS: dict[str, tuple[str, Callable[[], Words], Callable[[Words], str]]] = {
    "rcp_f32.mantissas": ("rcp", lambda: ALL[: 1 << 23] + np.uint32(0x3F800000), word_hash),
    "rsq_f32.mantissas": ("rsq", lambda: ALL + np.uint32(0x3F800000), word_hash),
    "sqrt_f32.mantissas.word": ("sqrt", lambda: ALL + np.uint32(0x3F800000), word_hash),
    "log_f32.half_to_two.word": ("log", lambda: ALL + np.uint32(0x3F000000), word_hash),
    "exp_f32.unit.positive": (
        "exp", lambda: (ALL * np.float32(2.0**-24)).astype(np.float32).view(np.uint32), word_hash,
    ),
    "exp_f32.stride_257.byte": ("exp", lambda: ALL * np.uint32(257), byte_hash),
}  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("domain", WHOLE_DOMAINS)
def test_whole_domains_are_those_of_the_chip(domain: str) -> None:
    name, bits, digest = WHOLE_DOMAINS[domain]
    assert digest(run(name, "f32", bits())) == DIGESTS[domain]


@pytest.mark.sample(2)
@pytest.mark.parametrize("modifiers", ["none", "clamp", "mul2", "div2"])
def test_modifiers_of_f32_are_those_of_the_chip(modifiers: str) -> None:
    written = {"none": "", "clamp": " clamp", "mul2": " mul:2", "div2": " div:2"}[modifiers]
    bits = (np.arange(1 << 20, dtype=np.uint64) * 0x9E3779B9).astype(np.uint32)
    found = np.concatenate([run(name, "f32", bits, written) for name in _FIVE])
    assert byte_hash(found) == DIGESTS[f"five_f32.{modifiers}"]


HALVES = np.arange(1 << 16, dtype=np.uint32)


@pytest.mark.sample(3)
@pytest.mark.parametrize("which", [name for name in DIGESTS if name.startswith("five_f16")])
def test_modifiers_of_f16_are_those_of_the_chip(which: str) -> None:
    _, modifiers, mode = which.split(".")
    written = (" clamp" if "clamp" in modifiers else "") + (" mul:2" if "mul2" in modifiers else "")
    written += " div:2" if "div2" in modifiers else ""
    source = "-v1" if "neg" in modifiers else "v1"
    setting = int(mode.removeprefix("mode_"), 16)
    found = [run(name, "f16", HALVES, written, source, setting) for name in _FIVE]
    assert byte_hash(np.concatenate(found)) == DIGESTS[which]


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "which",
    [
        name
        for name in DIGESTS
        if re.match(r"(rcp|log|exp|sin|cos)_f16", name) and not name.endswith("signaling")
    ],
)
def test_all_halves_are_those_of_the_chip(which: str) -> None:
    name, denormals, *rest = which.split(".")
    overflow = int("ovfl1" in rest)
    mode = int(denormals[-1]) << 6 | overflow << 23
    found = run(name.removesuffix("_f16"), "f16", HALVES, mode=mode)
    assert word_hash(found) == DIGESTS[which]


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("name", _FIVE)
def test_scalar_forms_return_the_same_bits(name: str, kind: str) -> None:
    bits = np.random.default_rng(8).integers(0, 1 << (32 if kind == "f32" else 16), 64, np.uint32)
    body = f"  v_readfirstlane_b32 s6, v1\n  v_s_{name}_{kind} s7, s6\n  v_mov_b32 v100, s7\n"
    # A number for each wave, in all its lanes.
    found = run_registers(body, bits.repeat(32)[None], [100])[0]
    np.testing.assert_array_equal(found, run(name, kind, bits).repeat(32))


@pytest.mark.sample(6)
@pytest.mark.parametrize("which", [name for name in DIGESTS if name.endswith("signaling")])
def test_halves_are_those_of_the_chip_where_nans_keep_signaling(which: str) -> None:
    """As gfx11 passes NaNs on without MODE's IEEE, which gfx12 has not."""
    name, denormals, overflow, _ = which.split(".")
    body = f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), {denormals[-1]}
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), {overflow[-1]}
  s_waitcnt lgkmcnt(0)
  global_load_b32 v1, v2, s[0:1]
  v_mov_b32 v4, 0
  s_waitcnt vmcnt(0)
  v_{name}_e32 v4, v1
  global_store_b32 v2, v4, s[2:3]
"""
    code = assemble(body, cpu="gfx1100", directives=".amdhsa_ieee_mode 0")
    found = []
    with using(cpu="gfx1100"):
        for part in HALVES.reshape(-1, 1024):
            found.append(np.zeros(1024, np.uint32))
            emulate(code, "kernel", 1, 1024, [part, found[-1]])
    assert word_hash(np.concatenate(found)) == DIGESTS[which]


_EDGES = np.array(
    [
        *(0, 1, 0x007FFFFF, 0x00800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3F83FFFF, 0x3F840000),
        *(0x3F7C0000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC12345, 0x7E800001, 0x7F000000),
        *(0x33800000, 0x337FFFFF, 0x43000000, 0x42FC0001, 0x39C00000, 0x39BFFFFF, 0x4B000000),
    ],
    np.uint32,
)


def compute_all(number, out, i):
    out[0, i] = bitcast(amdgcn.rcpf(number), u32)
    out[1, i] = bitcast(amdgcn.rsqf(number), u32)
    out[2, i] = bitcast(amdgcn.sqrtf(number), u32)
    out[3, i] = bitcast(amdgcn.exp2f(number), u32)
    out[4, i] = bitcast(amdgcn.logf(number), u32)
    out[5, i] = bitcast(amdgcn.sinf(number), u32)
    out[6, i] = bitcast(amdgcn.cosf(number), u32)


@amdjit.kernel(warnings=False)
def of_uniform_numbers(x, out):
    i = amdjit.blockIdx.x
    compute_all(bitcast(x[i], f32), out, i)


@amdjit.kernel(warnings=False)
def of_many_numbers(x, out):
    i = amdjit.grid(1)
    compute_all(bitcast(x[i], f32), out, i)


def test_hosts_without_wide_vectors_compute_the_same() -> None:
    """They look coefficients up in another way."""
    wide = (name for name in llvm.get_host_cpu_features() if name.startswith(("avx512", "avx10")))
    target = find_target("gfx1201")
    assert target is not None
    device = EmulatorDevice(target, 1, compiler=HostCompiler(None, frozenset(wide)))
    near_one = np.random.default_rng(5).uniform(0.95, 1.05, 1 << 13).astype(np.float32)
    turns = np.random.default_rng(6).uniform(-2, 2, 1 << 13).astype(np.float32)
    others = np.random.default_rng(7).integers(0, 1 << 32, 1 << 14, np.uint32)
    bits = np.concatenate([near_one.view(np.uint32), turns.view(np.uint32), others])
    found = np.zeros((7, bits.size), np.uint32)
    with amdjit.use(device):
        of_many_numbers[bits.size // 256, 256](bits, found)
    for row, rule in zip(found, SINGLE_RULES.values(), strict=True):
        np.testing.assert_array_equal(row, of_bits(rule, bits))


@pytest.mark.parametrize("cpu", ["gfx906", "gfx90a", "gfx950", "gfx1100", "gfx1150", "gfx1201"])
def test_edges_follow_the_rule_on_every_family(cpu: str) -> None:
    bits = np.concatenate([_EDGES, _EDGES | np.uint32(0x80000000)])
    found = np.zeros((7, bits.size), np.uint32)
    with amdjit.use(f"emulator:{cpu}"):
        of_uniform_numbers[bits.size, 1](bits, found)
    for row, rule in zip(found, SINGLE_RULES.values(), strict=True):
        np.testing.assert_array_equal(row, of_bits(rule, bits))
