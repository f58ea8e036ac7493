"""Programs in HIP's language with ROCm's device library (OCKL), compiled by clang without ROCm."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

# Processor: its number in the device library, and whether its waves have 64 lanes.
PROCESSORS = {
    "gfx1201": (12001, 0),
    "gfx1100": (11000, 0),
    "gfx942": (9402, 1),
    "gfx90a": (9010, 1),
}
# Debian's, of ROCm 5.2, and where it is installed the one that Triton brings. A folder with another
# is named by this variable.
_VARIABLE = "AMDJIT_TEST_DEVICE_LIBRARIES"
_DEBIAN = next(Path("/usr/lib").glob("*-linux-gnu/amdgcn/bitcode/ockl.bc"), Path("ockl.bc"))
_CONTROLS = {
    "ISA_version": "i32 {number}, align 4",
    "ABI_version": "i32 {abi}, align 4",
    "wavefrontsize64": "i8 {wide}, align 1",
    "wavefrontsize_log2": "i32 {log2}, align 4",
}

HEAD = r"""
#define DEVICE __attribute__((device))
#define NOINLINE DEVICE __attribute__((noinline))
#define KERNEL extern "C" __attribute__((global)) void
typedef unsigned long u64;
typedef unsigned u32;
extern "C" DEVICE int printf(const char *, ...);
extern "C" DEVICE u64 __ockl_fprintf_stderr_begin();
extern "C" DEVICE u64 __ockl_fprintf_append_args(u64, u32, u64, u64, u64, u64, u64, u64, u64, u32);
extern "C" DEVICE u64 __ockl_fprintf_append_string_n(u64, const char *, u64, u32);
extern "C" DEVICE u64 __ockl_dm_alloc(u64);
extern "C" DEVICE void __ockl_dm_dealloc(u64);
extern "C" DEVICE void __ockl_grid_sync();
typedef u64 Pair __attribute__((ext_vector_type(2)));
extern "C" DEVICE Pair __ockl_call_host_function(u64, u64, u64, u64, u64, u64, u64, u64);
static DEVICE u64 bytes(const char *s) { u64 n = 0; while (s[n]) ++n; return n + 1; }
// As HIP's header has it.
static NOINLINE void fail(const char *text, const char *file, u32 line, const char *function) {
  const char format[] = "%s:%u: %s: Device-side assertion `%s' failed.\n";
  u64 message = __ockl_fprintf_stderr_begin();
  message = __ockl_fprintf_append_string_n(message, format, sizeof(format), 0);
  message = __ockl_fprintf_append_string_n(message, file, bytes(file), 0);
  message = __ockl_fprintf_append_args(message, 1, line, 0, 0, 0, 0, 0, 0, 0);
  message = __ockl_fprintf_append_string_n(message, function, bytes(function), 0);
  __ockl_fprintf_append_string_n(message, text, bytes(text), 1);
  __builtin_trap();
}
#define assert(x) ((x) ? (void)0 : fail(#x, "program.hip", __LINE__, __PRETTY_FUNCTION__))
#define BLOCK ((int)__builtin_amdgcn_workgroup_id_x())
#define THREAD ((int)__builtin_amdgcn_workitem_id_x())
#line 1
"""


def device_libraries() -> list[Path]:
    """Return the device libraries that there are, the newest first."""
    spec = find_spec("triton")
    own = [Path(spec.origin).parent / "backends/amd/lib/ockl.bc"] if spec and spec.origin else []
    named = [Path(os.environ[_VARIABLE], "ockl.bc")] if _VARIABLE in os.environ else []
    return [path for path in (*named, *own, _DEBIAN) if path.exists()]


# ROCm 5.2 has no printf into a buffer, no clock of RDNA 4, which its malloc waits by, and
# synchronises grids with GDS.
needs_new_library = pytest.mark.skipif(
    device_libraries() in ([], [_DEBIAN]),
    reason=f"the device library of ROCm 6 is not installed: install Triton, or set {_VARIABLE}",
)


def controls(processor: str, abi: int) -> str:
    """Return what the device library reads of the processor and the compiler, as LLVM IR."""
    number, wide = PROCESSORS[processor]
    values = {"number": number, "wide": wide, "log2": 5 + wide, "abi": abi}
    return 'target triple = "amdgcn-amd-amdhsa"\n' + "".join(
        f"@__oclc_{name} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant "
        f"{value.format(**values)}\n"
        for name, value in _CONTROLS.items()
    )


@functools.cache
def compile_program(
    source: str,
    processor: str = "gfx1201",
    options: Sequence[str] = ("-O2",),
    library: Path | None = None,
    abi: int = 600,
) -> bytes:
    """Compile a program. library: a device library, by default the newest; abi: the version of the
    code object that it is for, times 100."""
    chosen = library or next(iter(device_libraries()), None)
    if chosen is None:
        pytest.skip("rocm-device-libs is not installed")
    with tempfile.TemporaryDirectory() as folder:
        made = {name: Path(folder) / name for name in ("a.hip", "a.ll", "a.bc", "a.co")}
        made["a.hip"].write_text(HEAD + source)
        made["a.ll"].write_text(controls(processor, abi))
        subprocess.run(["llvm-as-22", made["a.ll"], "-o", made["a.bc"]], check=True)
        link = [
            word
            for path in (chosen, made["a.bc"])
            for word in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(path))
        ]
        fixed = "-x hip --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -w"
        command = ["clang-22", *fixed.split(), "-nohipwrapperinc", f"--offload-arch={processor}"]
        command += [f"-mcode-object-version={abi // 100}", *options, *link]
        subprocess.run([*command, made["a.hip"], "-o", made["a.co"]], check=True)
        return made["a.co"].read_bytes()
