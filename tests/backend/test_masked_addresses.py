"""Addresses of tables and functions behind masks in wave64 of gfx11, at which LLVM 22 ends."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import amdjit
from amdjit.backend import emit_assembly
from amdjit.backend.llvm import optimise
from amdjit.backend.masked_addresses import compute_addresses_first
from amdjit.diagnostics.errors import BackendError
from amdjit.options import CompileOptions
from amdjit.target import EMULATED, find_target

_RDNA3 = [target.name for target in EMULATED if target.isa[0] == 11]
FIRST = np.arange(32, dtype=np.int32) * 3
SECOND = np.arange(32, dtype=np.int32) ** 2
THIRD = np.arange(32, dtype=np.int32)[::-1].copy()


@pytest.mark.sample(5)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("cpu", _RDNA3)
def test_tables_are_read_behind_masks(cpu: str, level: int) -> None:
    @amdjit.kernel(opt_level=level, wave_size=64)
    def looked_up(keys, out):
        i = amdjit.grid(1)
        key = keys[i]
        total = 1 if key < 3 else 7
        if key & 1:
            total += FIRST[key & 31] if key > 5 else 2
            if total & 2:
                total = SECOND[(key + total) & 31] if key * total > 40 else total
        if total % 3 == 1:
            total += THIRD[key & 31] if key - total > 5 else 2
        out[i] = total

    def expected(key: int) -> int:
        total = 1 if key < 3 else 7
        if key & 1:
            total += FIRST[key & 31] if key > 5 else 2
            if total & 2:
                total = SECOND[(key + total) & 31] if key * total > 40 else total
        if total % 3 == 1:
            total += THIRD[key & 31] if key - total > 5 else 2
        return total

    keys, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with amdjit.use(f"emulator:{cpu}"):
        looked_up[1, 64](keys, out)
    assert out.tolist() == [expected(int(key)) for key in keys]


@amdjit.device_function(inline=False)
def apart(key, total):
    if total & 2:
        return key * 5 - total if key * total > 40 else total
    return total - key


@pytest.mark.sample(5)
@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("cpu", _RDNA3)
def test_functions_are_called_behind_masks(cpu: str, level: int) -> None:
    def calls(keys, out):
        i = amdjit.grid(1)
        key = keys[i]
        total = 1 if key < 3 else 7
        total += apart(key, total) if key > 5 else 2
        total += apart(total, key) if key - total > 5 else 2
        if total % 3 == 1:
            total = apart(total, total) if key * total < 99 else key
        out[i] = total

    results = []
    for wave_size in (32, 64):
        keys, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
        with amdjit.use(f"emulator:{cpu}"):
            amdjit.kernel(opt_level=level, wave_size=wave_size)(calls)[1, 64](keys, out)
        results.append(out.tolist())
    assert results[0] == results[1]


def test_functions_become_part_of_the_kernel_in_wave64() -> None:
    @amdjit.kernel
    def calls(keys: amdjit.i32[:], out: amdjit.i32[:]):
        i = amdjit.grid(1)
        out[i] = apart(keys[i], i)

    for cpu, wave_size, is_called in (("gfx1100", 64, 0), ("gfx1100", 32, 1), ("gfx1201", 64, 1)):
        compiled = calls.compile(target=cpu, wave_size=wave_size)
        assert compiled.asm.count("s_swappc_b64") == is_called


@amdjit.device_function(inline=False)
def noinline(key, total):
    return key * 3 if key > total else total


def test_a_function_may_have_the_name_of_an_attribute() -> None:
    @amdjit.kernel(wave_size=64)
    def calls(keys: amdjit.i32[:], out: amdjit.i32[:]):
        i = amdjit.grid(1)
        out[i] = noinline(keys[i], i)

    keys, out = np.arange(64, dtype=np.int32)[::-1].copy(), np.zeros(64, np.int32)
    with amdjit.use("emulator:gfx1100"):
        calls[1, 64](keys, out)
    assert out.tolist() == [k * 3 if k > i else i for i, k in enumerate(keys.tolist())]


def test_functions_of_bitcode_that_is_not_optimised_become_part_of_the_kernel() -> None:
    text = """
    target triple = "amdgcn-amd-amdhsa"
    define protected amdgpu_kernel void @k(ptr addrspace(1) %p) {
      %value = call i32 @apart(i32 7)
      store i32 %value, ptr addrspace(1) %p
      ret void
    }
    define internal i32 @apart(i32 %x) #0 {
      %y = add i32 %x, 1
      ret i32 %y
    }
    attributes #0 = { noinline optnone }
    """
    target = find_target("gfx1100")
    assert target is not None
    options = CompileOptions(target, wave_size=64, opt_level=2)
    assert "@apart" not in optimise(dedent(text), target, options)


def test_llvm_ends_at_an_address_behind_a_mask_and_not_at_the_entry() -> None:
    text = (Path(__file__).parent / "table_behind_mask.ll").read_text()
    target = find_target("gfx1100")
    assert target is not None
    options = CompileOptions(target, wave_size=64, opt_level=2)
    with pytest.raises(BackendError, match="LLVM ended"):
        emit_assembly(text, target, options)
    first = compute_addresses_first(text, target, 64)
    assert first.count("@table") == 2, "its declaration, and the address"
    assert "s_getpc_b64" in emit_assembly(first, target, options)
    assert compute_addresses_first(text, target, 32) == text
