"""Run instructions of gfx9 on whole waves of 64 lanes, and read the registers back."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.emulator.building import SEPARATE, emulate, using

Registers = NDArray[np.uint32]
LANES = 64
CDNA = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")

_TEXT = """
.amdgcn_target "amdgcn-amd-amdhsa--{cpu}"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v250, 2, v0
  s_waitcnt lgkmcnt(0)
{loads}
  s_waitcnt vmcnt(0)
{body}
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_mov_b64 exec, -1
{stores}
  s_endpgm
.Lend:
.size kernel, .Lend-kernel
.rodata
.p2align 6
.amdhsa_kernel kernel
  .amdhsa_next_free_vgpr {registers}
  .amdhsa_next_free_sgpr 96
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_float_denorm_mode_32 {denormals}
  .amdhsa_float_denorm_mode_16_64 {denormals}
  .amdhsa_fp16_overflow {overflow}
  .amdhsa_ieee_mode {ieee}
  {directives}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: kernel
    .symbol: kernel.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .sgpr_count: 96
    .vgpr_count: {registers}
    .wavefront_size: 64
    .max_flat_workgroup_size: 64
    .args:
      - {{.name: input, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: output, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


@cache
def assemble_gfx9(
    cpu: str,
    body: str,
    inputs: int,
    outputs: tuple[int, ...],
    lds: int = 0,
    denormals: int = 3,
    overflow: int = 0,
    ieee: int = 1,
) -> bytes:
    """Assemble a kernel that has its inputs in v1, v2, ... before `body`, and stores `outputs`
    afterwards. v250 is 4 times the lane; s[4:5] and s[6:7] point to inputs and outputs."""
    loads = [
        f"  global_load_dword v{1 + row}, v250, s[4:5] offset:{256 * row}" for row in range(inputs)
    ]
    stores = [
        f"  global_store_dword v250, v{number}, s[6:7] offset:{256 * row}"
        for row, number in enumerate(outputs)
    ]
    unified = cpu not in SEPARATE
    text = _TEXT.format(
        cpu=cpu,
        loads="\n".join(loads),
        body=body,
        stores="\n".join(stores),
        lds=lds,
        denormals=denormals,
        overflow=overflow,
        ieee=ieee,
        registers=512 if unified else 256,
        directives=".amdhsa_accum_offset 256" if unified else "",
    )
    with tempfile.TemporaryDirectory() as folder:
        source, item, output = (Path(folder, f"kernel.{suffix}") for suffix in ("s", "o", "co"))
        source.write_text(text)
        command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={cpu}", "-filetype=obj"]
        subprocess.run([*command, str(source), "-o", str(item)], check=True)
        subprocess.run(["ld.lld-22", "-shared", str(item), "-o", str(output)], check=True)
        return output.read_bytes()


def run_gfx9(
    cpu: str, body: str, inputs: list[NDArray[np.generic]], outputs: tuple[int, ...], **options: int
) -> Registers:
    """Return registers after `body`, as rows of 64 lanes; `inputs` are rows of dwords in v1, ..."""
    given = np.ascontiguousarray([np.asarray(row).view(np.uint32) for row in inputs])
    found = np.zeros((max(len(outputs), 1), LANES), np.uint32)
    code = assemble_gfx9(cpu, body, len(given), outputs, **options)
    with using(cpu=cpu):
        emulate(code, "kernel", 1, LANES, [given, found])
    return found


def assert_same(found: NDArray[Any], expected: NDArray[Any]) -> None:
    """Compare floats bit by bit; NaNs are equal to each other."""
    nan = np.isnan(expected)
    assert np.array_equal(np.isnan(found), nan)
    kind = {2: np.uint16, 4: np.uint32}[expected.dtype.itemsize]
    assert np.array_equal(found.view(kind)[~nan], expected.view(kind)[~nan])


def random_words(seed: int, count: int) -> list[NDArray[np.uint32]]:
    """Return rows of random dwords."""
    random = np.random.default_rng(seed)
    return list(random.integers(0, 1 << 32, (count, LANES)).astype(np.uint32))
