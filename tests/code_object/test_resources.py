"""Occupancy is that of the processor's documents and of LLVM."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

import pytest

from amdjit.backend import emit_assembly, emit_object, find_linker, link
from amdjit.code_object import CodeObject, Resources, read_resources
from amdjit.code_object.resources import waves_by_lds, waves_by_vgprs
from amdjit.options import CompileOptions, Environment, named_target
from amdjit.target import TARGETS, Target

TARGET = named_target("gfx1201")

# 1536 registers a SIMD in granules of 24 (LLVM: GCNSubtarget::getOccupancyWithNumVGPRs for these
# processors).
VGPR_TABLE = [
    *[
        (1, 16),
        (24, 16),
        (25, 16),
        (95, 16),
        (96, 16),
        (97, 12),
        (120, 12),
        (121, 10),
        (144, 10),
        (145, 9),
        (168, 9),
    ],
    *[(169, 8), (192, 8), (193, 7), (216, 7), (217, 6), (240, 6), (241, 5), (256, 5), (257, 0)],
]


@pytest.mark.parametrize(("vgprs", "waves"), VGPR_TABLE)
def test_waves_by_vgprs_in_wave32(vgprs: int, waves: int) -> None:
    assert waves_by_vgprs(vgprs, 32, TARGET) == waves


@pytest.mark.parametrize(
    ("vgprs", "waves"),
    [(1, 16), (48, 16), (49, 12), (60, 12), (61, 10), (96, 8), (128, 5), (256, 2)],
)
def test_waves_by_vgprs_in_wave64(vgprs: int, waves: int) -> None:
    assert waves_by_vgprs(vgprs, 64, TARGET) == waves


@pytest.mark.parametrize(
    ("lds_bytes", "waves_per_workgroup", "wgp_mode", "waves"),
    [
        (0, 1, True, 16),
        (0, 32, True, 16),
        (64 * 1024, 8, True, 4),  # two workgroups of 8 waves on 4 SIMDs
        (64 * 1024, 32, True, 16),
        (32 * 1024, 4, True, 4),
        (1025, 1, True, 16),  # granules of 1 KiB: 64 workgroups of 2 KiB
        (2049, 1, True, 11),  # 42 workgroups of 3 KiB: at most 11 on one SIMD
        (64 * 1024 + 1, 1, True, 0),
        (64 * 1024, 8, False, 4),  # CU mode: one workgroup on 2 SIMDs
    ],
)
def test_lds_limits_the_waves_of_a_processor(
    lds_bytes: int, waves_per_workgroup: int, wgp_mode: bool, waves: int
) -> None:
    assert waves_by_lds(lds_bytes, waves_per_workgroup, TARGET, wgp_mode) == waves


def _kernel(vgprs: int, lds: int, workgroup: int) -> str:
    """Return a kernel that touches register `vgprs` - 1 and `lds` bytes of LDS."""
    return f"""
target triple = "amdgcn-amd-amdhsa"
@shared = internal addrspace(3) global [{max(lds // 4, 1)} x i32] poison, align 4
define protected amdgpu_kernel void @kernel(i32 %i) #0 {{
  call void asm sideeffect "", "~{{v{vgprs - 1}}}"()
  {"store volatile i32 1, ptr addrspace(3) @shared" if lds else ""}
  ret void
}}
attributes #0 = {{
  "amdgpu-flat-work-group-size"="{workgroup},{workgroup}" "amdgpu-waves-per-eu"="1" }}
"""


KERNELS = [
    *[(vgprs, 0, 256) for vgprs in (24, 96, 97, 120, 144, 168, 192, 216, 240, 256)],
    *[
        (8, 64 * 1024, 256),
        (8, 32 * 1024, 128),
        (8, 16 * 1024, 64),
        (8, 8 * 1024, 1024),
        (168, 32 * 1024, 256),
    ],
]


@cache
def _resources(vgprs: int, lds: int, workgroup: int, target: Target = TARGET) -> Resources:
    options = CompileOptions(target)
    text = _kernel(vgprs, lds, workgroup)
    code_object = CodeObject.read(
        link(emit_object(text, target, options), find_linker(Environment()))
    )
    return read_resources(code_object, "kernel", target, instructions=7)


def _occupancy(assembly: str, workgroup: int, target: Target = TARGET) -> int:
    """Return the waves that the compiler prints, of those the ones in whole workgroups: where
    registers are the limit, it does not ask whether waves of a workgroup remain outside."""
    found = re.search(r"; Occupancy: (\d+)", assembly)
    assert found is not None
    simds, waves = target.simds_per_workgroup_processor, -(-workgroup // target.wave_size)
    workgroups = int(found.group(1)) * simds // waves
    return -(-workgroups * waves // simds)


@pytest.mark.parametrize(("vgprs", "lds", "workgroup"), KERNELS)
def test_occupancy_is_the_one_that_the_compiler_prints(
    vgprs: int, lds: int, workgroup: int
) -> None:
    resources = _resources(vgprs, lds, workgroup)
    assert (resources.vgprs, resources.lds_bytes, resources.instructions) == (vgprs, lds, 7)
    assembly = emit_assembly(_kernel(vgprs, lds, workgroup), TARGET, CompileOptions(TARGET))
    assert resources.waves_per_simd == _occupancy(assembly, workgroup)


# LLVM's comment does not round LDS up to gfx950's granule of 1280 bytes.
@pytest.mark.sample(50)
@pytest.mark.parametrize(
    ("target", "vgprs", "lds", "workgroup"),
    [
        pytest.param(
            target,
            *kernel,
            # Each kernel on a third of the processors, and a third of the kernels on each.
            marks=() if (number + place) % 3 == 0 else pytest.mark.exhaustive,
        )
        for number, target in enumerate(TARGETS)
        for place, kernel in enumerate(KERNELS)
        if kernel[1] % target.lds_granule == 0
    ],
)
def test_occupancy_of_every_processor(vgprs: int, lds: int, workgroup: int, target: Target) -> None:
    assembly = emit_assembly(_kernel(vgprs, lds, workgroup), target, CompileOptions(target))
    expected = _occupancy(assembly, workgroup, target)
    assert _resources(vgprs, lds, workgroup, target).waves_per_simd == expected


@pytest.mark.parametrize(("vgprs", "lds", "workgroup"), [(120, 0, 256), (8, 32 * 1024, 128)])
def test_occupancy_is_the_one_that_llc_prints(vgprs: int, lds: int, workgroup: int) -> None:
    llc = shutil.which("llc-22")
    if llc is None:
        pytest.skip("llc-22 is not installed")
    command = [llc, "-mcpu=gfx1201", "-o", "-"]
    text = subprocess.run(
        command, input=_kernel(vgprs, lds, workgroup), capture_output=True, check=True, text=True
    )
    assert _resources(vgprs, lds, workgroup).waves_per_simd == _occupancy(text.stdout, workgroup)


def test_the_limiter_is_named() -> None:
    assert _resources(24, 0, 256).limiter == "none"
    assert _resources(120, 0, 256).limiter == "vgprs"
    assert _resources(8, 64 * 1024, 256).limiter == "lds"
    assert _resources(8, 8 * 1024, 1024).limiter == "none"


def test_resources_take_a_kernel_or_its_name() -> None:
    code_object = CodeObject.read(
        link(
            emit_object(_kernel(30, 0, 64), TARGET, CompileOptions(TARGET)),
            find_linker(Environment()),
        )
    )
    by_value = read_resources(code_object, code_object.kernels["kernel"], TARGET, 1)
    assert by_value == read_resources(code_object, "kernel", TARGET, 1)
    with pytest.raises(KeyError):
        read_resources(code_object, "kernal", TARGET, 1)
