"""The emulator returns what a W7900 returned for dot and matrix instructions, from their machine
code."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import amdjit
from amdjit.emulator import run
from tests.captures import capture, numbers
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
Registers = NDArray[np.uint32]

_TEXT = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
  s_load_b128 s[0:3], s[0:1], 0x0
  v_lshlrev_b32 v250, 2, v0
  v_mov_b32 v251, v250
  s_waitcnt lgkmcnt(0)
{loads}
  s_waitcnt vmcnt(0)
{body}
  s_endpgm
.Lend:
.size kernel, .Lend-kernel
.rodata
.p2align 6
.amdhsa_kernel kernel
  .amdhsa_next_free_vgpr 256
  .amdhsa_next_free_sgpr 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_wavefront_size32 {is_wave32}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: kernel
    .symbol: kernel.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .sgpr_count: 32
    .vgpr_count: 256
    .wavefront_size: {wave_size}
    .max_flat_workgroup_size: 1024
    .args:
      - {{.name: input, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: output, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


@cache
def assembled(text: str, wave_size: int) -> bytes:
    with TemporaryDirectory() as folder:
        source, item, output = (Path(folder, f"kernel.{end}") for end in ("s", "o", "co"))
        source.write_text(text)
        tool = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-filetype=obj"]
        features = f"-mattr=+wavefrontsize{wave_size}"
        subprocess.run([*tool, features, str(source), "-o", str(item)], check=True)
        subprocess.run(["ld.lld-22", "-shared", str(item), "-o", str(output)], check=True)
        return output.read_bytes()


def stored(register: int, wave_size: int) -> str:
    """Return the instructions that append a register to the results."""
    step = f"  v_add_nc_u32 v251, {4 * wave_size}, v251"
    return f"  global_store_b32 v251, v{register}, s[2:3]\n{step}"


def executed(body: str, inputs: Registers, results: int, wave_size: int) -> Registers:
    """Return what a wave stores. inputs: [registers from v1 on, lanes]."""
    loads = [
        f"  global_load_b32 v{1 + row}, v250, s[0:1] offset:{4 * wave_size * row}"
        for row in range(len(inputs))
    ]
    text = _TEXT.format(
        loads="\n".join(loads), body=body, wave_size=wave_size, is_wave32=int(wave_size == 32)
    )
    found = np.zeros((results, wave_size), np.uint32)
    with amdjit.use("emulator:gfx1100") as device:
        run(assembled(text, wave_size), "kernel", 1, wave_size, [inputs, found], device=device)
    return found


def packed(pair: list[str]) -> int:
    low, high = numbers(pair)
    return low | high << 16


def dot_rows(kind: str, taken: str | None) -> list[dict[str, Any]]:
    rows = capture("float_dot_gfx1100")["rows"]
    return [row for row in rows if (row["format"], row.get("capture")) == (kind, taken)]


@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_captured_dots_of_registers(kind: str, wave_size: int) -> None:
    rows = dot_rows(kind, None)
    inputs = np.zeros((3, wave_size), np.uint32)
    for lane, row in enumerate(rows):
        inputs[:, lane] = [packed(row["a"]), packed(row["b"]), int(row["c"], 16)]
    forms = [f"v_dot2_f32_{kind} v4, v1, v2, v3"]
    if kind == "f16":
        forms.append("v_mov_b32 v4, v3\n  v_dot2acc_f32_f16 v4, v1, v2")
    if wave_size == 32:
        dual = f"v_dual_dot2acc_f32_{kind} v4, v1, v2 :: v_dual_mov_b32 v7, v6"
        forms.append(f"v_mov_b32 v4, v3\n  {dual}")
    body = "\n".join(f"  {form}\n{stored(4, wave_size)}" for form in forms)
    found = executed(body, inputs, len(forms), wave_size)
    expected = [row["result"] for row in rows]
    assert len(expected) >= 25
    for line in found:
        assert [f"{value:#010x}" for value in line[: len(rows)]] == expected


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_captured_dots_of_inline_constants(kind: str) -> None:
    rows = dot_rows(kind, "inline")
    assert len(rows) == 12
    body = []
    for row in rows:
        chosen = row["modifiers"]
        source = chosen["inline_source"]
        text = {129: "1", 242: "1.0", 248: "0.15915494"}[chosen["inline_constant_selector"]]
        operands = [text, "v10"] if source == 0 else ["v10", text]
        halves = ["0", "0", "0"]
        halves[source] = str(chosen["op_sel"])
        other = packed(row["b"] if source == 0 else row["a"])
        body.append(f"  v_mov_b32 v10, {other:#x}")
        selected = f"op_sel:[{','.join(halves)}]"
        body.append(f"  v_dot2_f32_{kind} v11, {', '.join(operands)}, 0 {selected}")
        body.append(stored(11, 32))
    found = executed("\n".join(body), np.zeros((1, 32), np.uint32), len(rows), 32)
    assert [f"{value:#010x}" for value in found[:, 5]] == [row["result"] for row in rows]


def is_clamped(row: dict[str, Any]) -> bool:
    """Whether an encoding has the bit of clamp, which LLVM does not give these instructions."""
    return bool(int(row["encoding"][0], 16) >> 15 & 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("wave_size", [32, 64])
@pytest.mark.parametrize("kind", ["F16", "BF16"])
def test_captured_operands_of_packed_matrices(kind: str, wave_size: int) -> None:
    """All modifiers, by encoding; every word of an operand is the same. The other half of D
    stays."""
    rows = [
        row for row in capture("packed_operands")["rows"] if row["instruction"].endswith(f"_{kind}")
    ]
    rows = [row for row in rows if not is_clamped(row)][:: 1 if wave_size == 32 else 4]
    held: dict[int, str] = {}
    body = []
    for row in rows:
        for first, text in ((0, row["a"]), (8, row["b"]), (16, row["c"])):
            if held.get(first) != text:
                body += [f"  v_mov_b32 v{first + word}, {text}" for word in range(8)]
                held[first] = text
        body += [f"  v_mov_b32 v{24 + word}, 0x56781234" for word in range(8)]
        body.append("  .long {}, {}".format(*row["encoding"]))
        last = 256 // wave_size - 1
        body += [stored(24, wave_size), stored(24 + last, wave_size)]
    found = executed("\n".join(body), np.zeros((1, wave_size), np.uint32), 2 * len(rows), wave_size)
    assert len(rows) > 25
    for number, row in enumerate(rows):
        words = {f"{value:#010x}" for value in found[2 * number : 2 * number + 2].ravel()}
        assert words == {row["gfx1100"]}, row
