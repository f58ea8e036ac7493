"""What the emulator's tests build: C kernels for a processor and for the host, and assembled
kernels."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amdjit.backend.linking.plain import link_plain
from amdjit.disk_cache import DiskCache
from amdjit.emulator import EmulatorDevice, run
from amdjit.emulator.host.jit import HostCompiler
from amdjit.options import read_environment
from amdjit.target import find_target

CPU = "gfx1201"
# Processors of gfx9 without accumulation VGPRs among their VGPRs.
SEPARATE = ("gfx906", "gfx908")
KERNELS = Path(__file__).with_name("kernels")
COMPILER = "clang-22"
TARGET_FLAGS = [
    "-target",
    "amdgcn-amd-amdhsa",
    "-nogpulib",
    "-ffreestanding",
    "-fwrapv",
    "-w",
]


@dataclass(frozen=True)
class Use:
    """How launches of a test run unless they say otherwise.

    tier: of the emulator. host: what makes the host code, if not for this processor. fresh: each
    launch gets an emulator of its own without a cache, for tests that change how host code is made.
    device: the emulator to launch on. cpu: the processor that C is compiled for.
    """

    tier: str | None = None
    host: HostCompiler | None = None
    fresh: bool = False
    device: EmulatorDevice | None = None
    cpu: str = CPU


_USE: ContextVar[Use] = ContextVar("use", default=Use())  # noqa: B039 - it is frozen


@contextmanager
def using(**changes: Any) -> Iterator[None]:
    """Run the launches of a block as fields of `Use` say."""
    token = _USE.set(dataclasses.replace(_USE.get(), **changes))
    try:
        yield
    finally:
        _USE.reset(token)


def processor() -> str:
    """Return the processor that launches are for."""
    return _USE.get().cpu


def device(threads: int = 1) -> EmulatorDevice:
    """Return the tests' emulator with that many host threads; launches may take 20 seconds."""
    return _device(threads, _USE.get().tier, _USE.get().host, _USE.get().cpu)


@functools.cache
def _device(
    threads: int, tier: str | None, compiler: HostCompiler | None, cpu: str
) -> EmulatorDevice:
    return _new_device(threads, tier, compiler)


def _new_device(
    threads: int, tier: str | None, compiler: HostCompiler | None = None
) -> EmulatorDevice:
    target = find_target(_USE.get().cpu)
    assert target is not None
    settings = read_environment(os.environ)
    settings = dataclasses.replace(settings, emulator_tier=tier or settings.emulator_tier)
    if _USE.get().fresh:
        settings = dataclasses.replace(settings, cache_dir=None)
    return EmulatorDevice(target, threads, time_limit=20.0, environment=settings, compiler=compiler)


def emulate(
    code_object: bytes,
    kernel: str,
    grid: Any,
    block: Any,
    args: Sequence[Any],
    threads: int = 1,
    alone: bool = False,
    **options: Any,
) -> None:
    """Run a kernel on the tests' emulator.

    alone: on an emulator of its own, where no allocation or code of other tests can lie at a wild
    address.
    """
    use = _USE.get()
    emulator = use.device or (
        _new_device(threads, use.tier) if alone or use.fresh else device(threads)
    )
    run(code_object, kernel, grid, block, args, device=emulator, **options)


def compile_source(source: str, *flags: str) -> bytes:
    """Compile C and link it; the folder of the kernels is searched for includes."""
    return _compiled(source, flags, _USE.get().cpu)


@functools.cache
def _compiled(source: str, flags: tuple[str, ...], cpu: str) -> bytes:
    command = [COMPILER, *TARGET_FLAGS, f"-mcpu={cpu}", *(flags or ("-O3",)), "-g", f"-I{KERNELS}"]
    # Other workers of these tests compile the same kernels.
    headers = [file.read_text() for file in sorted(KERNELS.glob("*.h"))]
    cache = DiskCache(read_environment(os.environ).cache_dir, _version_of_compiler())
    key = cache.key("compiled C", source, *command, *headers)
    made = cache.get(key)
    if made is None:
        made = _compile(source, command)
        cache.put(key, made)
    return made


def _compile(source: str, command: list[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder, "kernel.c"), Path(folder, "kernel.co")
        path.write_text(source)
        subprocess.run([*command, str(path), "-o", str(output)], check=True)
        return output.read_bytes()


@functools.cache
def _version_of_compiler() -> str:
    done = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    return done.stdout


def compile_kernel(name: str, *flags: str) -> bytes:
    """Compile one of the kernels of this folder."""
    return compile_source((KERNELS / f"{name}.c").read_text(), *flags)


def own_parts(input_bytes: int, output_bytes: int) -> str:
    """Return the first instructions of a kernel of two pointers, to parts for each workgroup.

    Then s[0:1] and s[2:3] lead to a workgroup's own inputs and results; v250 and v251 are the
    places of a lane in rows of dwords and of 16 bytes.
    """
    return f"""
  s_load_b128 s[0:3], s[0:1], 0x0
  s_wait_kmcnt 0x0
  s_mul_i32 s4, ttmp9, {input_bytes}
  s_add_co_u32 s0, s0, s4
  s_add_co_ci_u32 s1, s1, 0
  s_mul_i32 s4, ttmp9, {output_bytes}
  s_add_co_u32 s2, s2, s4
  s_add_co_ci_u32 s3, s3, 0
  v_lshlrev_b32 v250, 2, v0
  v_lshlrev_b32 v251, 4, v0
"""


_HEADER = """
.amdgcn_target "amdgcn-amd-amdhsa--{cpu}"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
"""
_FOOTER = """
  s_endpgm
.Lend:
.size kernel, .Lend-kernel
.rodata
.p2align 6
.amdhsa_kernel kernel
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 100
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_private_segment_fixed_size {private}
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_float_denorm_mode_32 {denormals}
  .amdhsa_float_denorm_mode_16_64 {wide_denormals}
  .amdhsa_fp16_overflow {overflow}
  .amdhsa_float_round_mode_32 {rounding}
  .amdhsa_float_round_mode_16_64 {wide_rounding}
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
    .private_segment_fixed_size: {private}
    .sgpr_count: 100
    .vgpr_count: 256
    .wavefront_size: {wave_size}
    .max_flat_workgroup_size: 1024
    .args:
      - {{.name: input, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: output, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


@functools.cache
def assemble(
    body: str,
    lds: int = 0,
    private: int = 0,
    denormals: int = 3,
    rounding: int = 0,
    wide_denormals: int = 3,
    wide_rounding: int = 0,
    attributes: str = "",
    wave_size: int = 32,
    overflow: int = 0,
    cpu: str = CPU,
    directives: str = "",
) -> bytes:
    """Assemble a kernel `kernel(input, output)`; s[0:1] points to its arguments. `s_endpgm` is
    added.

    denormals, rounding: the modes of single precision; wide_*: those of half and double precision.
    overflow: FP16_OVFL. directives: further ones of the kernel's descriptor.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, item = Path(folder, "kernel.s"), Path(folder, "kernel.o")
        values = {"lds": lds, "private": private, "denormals": denormals, "rounding": rounding}
        values |= {
            "wide_denormals": wide_denormals,
            "wide_rounding": wide_rounding,
            "overflow": overflow,
            "directives": directives,
            "vgprs": 512 if cpu.startswith("gfx9") and cpu not in SEPARATE else 256,
        }
        values["directives"] += _own_directives(cpu, wave_size)
        if cpu.startswith("gfx9"):
            wave_size = 64
        footer = _FOOTER.format(**values, wave_size=wave_size)
        source.write_text(_HEADER.format(cpu=cpu) + body + footer)
        attributes = ",".join([*filter(None, [attributes]), f"+wavefrontsize{wave_size}"])
        command = [
            "llvm-mc-22",
            "-triple=amdgcn-amd-amdhsa",
            f"-mcpu={cpu}",
            f"-mattr={attributes}",
            "-filetype=obj",
        ]
        subprocess.run([*command, str(source), "-o", str(item)], check=True)
        return link_plain(item.read_bytes())


def _own_directives(cpu: str, wave_size: int) -> str:
    """Return those of a family: gfx9 has waves of 64 lanes only, and from gfx90a on VGPRs that are
    divided into two files."""
    if not cpu.startswith("gfx9"):
        return f"\n  .amdhsa_wavefront_size32 {int(wave_size == 32)}"
    if cpu in SEPARATE:
        return ""
    return "\n  .amdhsa_accum_offset 256"


@functools.cache
def compile_for_host(source: str) -> ctypes.CDLL:
    """Compile kernels' source for the host; `host_lane` and `host_block` are variables there."""
    folder = Path(tempfile.mkdtemp())
    path, output = folder / "kernel.c", folder / "kernel.so"
    path.write_text(source.replace('"common.h"', '"host.h"'))
    flags = ["-O1", "-ffp-contract=off", "-fwrapv", "-mf16c", "-mfma", "-shared", "-fPIC", "-w"]
    flags += ["-Xclang", "-ffloat16-excess-precision=none"]
    subprocess.run([COMPILER, *flags, f"-I{KERNELS}", str(path), "-o", str(output)], check=True)
    library = ctypes.CDLL(str(output))
    shutil.rmtree(folder)
    return library


def run_on_host(
    name: str, kernel: str, grid: int, block: int, args: Sequence[NDArray[Any] | np.generic]
) -> None:
    """Run a kernel on the host, one work-item after the other."""
    library = compile_for_host((KERNELS / f"{name}.c").read_text())
    lane = ctypes.c_uint.in_dll(library, "host_lane")
    group = ctypes.c_uint.in_dll(library, "host_block")
    function = getattr(library, kernel)
    values = [_host_argument(argument) for argument in args]
    for group.value in range(grid):
        for lane.value in range(block):
            function(*values)


def _host_argument(value: NDArray[Any] | np.generic) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return np.ctypeslib.as_ctypes_type(value.dtype)(value.item())
