"""Kernels of llvm-mc and ld.lld, to compare with those that are written without them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from amdjit.probe.machine_code.kernel_object import KernelFacts, has_unified_vgprs, padding
from amdjit.target import Feature, Target

_TEXT = """
.amdgcn_target "amdgcn-amd-amdhsa--{target.id}"
.amdhsa_code_object_version 5
.text
.globl {facts.name}
.protected {facts.name}
.p2align 8
.type {facts.name},@function
{facts.name}:
{code}
.Lend:
.size {facts.name}, .Lend-{facts.name}
{padding}
.rodata
.p2align 6
.amdhsa_kernel {facts.name}
  .amdhsa_next_free_vgpr {registers}
  .amdhsa_next_free_sgpr {facts.sgprs}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 16
  .amdhsa_group_segment_fixed_size {facts.lds}
  .amdhsa_private_segment_fixed_size {facts.scratch}
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_float_denorm_mode_32 {mode.denormals_32}
  .amdhsa_float_denorm_mode_16_64 {mode.denormals_16_64}
  .amdhsa_float_round_mode_32 {mode.rounding_32}
  .amdhsa_float_round_mode_16_64 {mode.rounding_16_64}
  .amdhsa_fp16_overflow {overflow}
  {own}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--{target.id}
amdhsa.kernels:
  - .name: {facts.name}
    .symbol: {facts.name}.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {facts.lds}
    .private_segment_fixed_size: {facts.scratch}
    .sgpr_count: {facts.sgprs}
    .vgpr_count: {facts.vgprs}
    {accumulation}
    .wavefront_size: {facts.wave_size}
    .max_flat_workgroup_size: {facts.max_group_size}
    .args:
      - {{.name: input, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: output, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


def assembled(target: Target, facts: KernelFacts, code: bytes, folder: Path) -> Path:
    """Return the object that llvm-mc makes of some code as a kernel."""
    source, made = folder / "kernel.s", folder / "kernel.o"
    source.write_text(
        _TEXT.format(
            target=target,
            facts=facts,
            mode=facts.mode,
            overflow=int(facts.mode.overflow),
            code=_words(code),
            padding=_words(padding(target, len(code))),
            registers=facts.vgprs + facts.agprs if has_unified_vgprs(target) else facts.vgprs,
            own="\n  ".join(_own_directives(target, facts)),
            accumulation=f".agpr_count: {facts.agprs}" if Feature.MFMA in target.features else "",
        )
    )
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target.name}", "-filetype=obj"]
    features = [f"{'+' if is_on else '-'}{name}" for name, is_on in target.settings]
    if target.isa[0] > 9:
        features.append(f"+wavefrontsize{facts.wave_size}")
    command.append(f"-mattr={','.join(features)}")
    subprocess.run([*command, str(source), "-o", str(made)], check=True)
    return made


def linked(relocatable: Path) -> bytes:
    """Return the code object that lld makes of an object."""
    output = relocatable.with_suffix(".co")
    command = ["ld.lld-22", "-shared", str(relocatable), "-o", str(output)]
    subprocess.run(command, check=True)
    return output.read_bytes()


def section(code_object: bytes, name: str, folder: Path) -> bytes:
    """Return the bytes of a section, as llvm-objcopy finds them."""
    path, dump = folder / "code.co", folder / "section.bin"
    path.write_bytes(code_object)
    command = ["llvm-objcopy-22", f"--dump-section={name}={dump}", str(path), str(folder / "copy")]
    subprocess.run(command, check=True)
    return dump.read_bytes()


def headers(code_object: bytes, folder: Path) -> str:
    """Return what llvm-readelf says of headers, segments, symbols and notes, without what says who
    linked and how long that is."""
    path = folder / "code.co"
    path.write_bytes(code_object)
    command = ["llvm-readelf-22", "-h", "-l", "--dyn-syms", "--notes", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.sub(r"Start of section headers:.*", "", text)


def _words(code: bytes) -> str:
    words = (code[at : at + 4][::-1].hex() for at in range(0, len(code), 4))
    return "\n".join(f".long 0x{word}" for word in words)


def _own_directives(target: Target, facts: KernelFacts) -> list[str]:
    found = []
    if target.isa[0] > 9:
        found.append(f".amdhsa_wavefront_size32 {int(facts.wave_size == 32)}")
    if target.isa[0] < 12:
        found.append(f".amdhsa_ieee_mode {int(facts.mode.ieee)}")
        found.append(f".amdhsa_dx10_clamp {int(facts.mode.dx10_clamp)}")
    if has_unified_vgprs(target):
        found.append(f".amdhsa_accum_offset {facts.vgprs}")
    if facts.scratch:
        found += _scratch_directives(target)
    return found


def _scratch_directives(target: Target) -> list[str]:
    if target.isa[0] > 9 or target.isa >= (9, 4, 0):
        return [".amdhsa_enable_private_segment 1"]
    return [
        ".amdhsa_user_sgpr_flat_scratch_init 1",
        ".amdhsa_system_sgpr_private_segment_wavefront_offset 1",
    ]
