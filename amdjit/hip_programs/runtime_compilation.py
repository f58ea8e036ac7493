"""What hiprtc compiles: a program in HIP, by the clang of this machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from amdjit.child_process import run

__all__ = ["compile_program"]

# hiprtcResult, hip/hiprtc.h.
SUCCESS, COMPILATION, NO_COMPILER = 0, 6, 7
_COMPILERS = ("clang++-22", "clang++", "amdclang++")
# Functions of ROCm's device library that HIP's headers call; without it, there are these.
DEVICE_FUNCTIONS = Path(__file__).with_name("source") / "device_functions.h"
_SECONDS = 600
# CUDA's spelling of the target, and an option that only hiprtc has.
_ARCHITECTURE = re.compile(r"^(--gpu-architecture=|-arch=|--offload-arch=)(.*)$")
_OWN = ("--device-as-default-execution-space", "-hip-pch")
_NAME = "amdjit_name_{number}"


def compile_program(folder: Path, options: Sequence[str], processor: str, wave_size: int) -> int:
    """Compile a program as `source/runtime_compilation.c` leaves it in a folder; return hiprtc's
    code. What the compiler says is in `log`, whatever the code is."""
    found, headers = _compiler(), _headers()
    if found is None or headers is None:
        lacking = "clang" if found is None else "HIP's headers (HIP_PATH/include/hip)"
        (folder / "log").write_text(f"hiprtc needs {lacking}\n")
        return NO_COMPILER
    names = (folder / "names").read_text().splitlines()
    source = folder / Path((folder / "name").read_text()).name
    source.write_text((folder / "source").read_text() + _references(names))
    command = [found, "-x", "hip", "--offload-device-only", f"--offload-arch={processor}"]
    command += [f"-D__AMDGCN_WAVEFRONT_SIZE={wave_size}", "-D__HIPCC_RTC__", "-O3", "-g"]
    command += ["-nogpulib", f"--rocm-path={headers}", f"-I{folder}", "-w"]
    command += [f"-ffile-prefix-map={folder}/=", "-fdebug-compilation-dir=hiprtc"]
    macros, others = _without_macros(options)
    (folder / "amdjit_macros").write_text("\n".join([*macros, ""]))
    command += ["-include", "hip/hip_runtime.h", "-include", str(DEVICE_FUNCTIONS)]
    command += ["-include", str(folder / "amdjit_macros"), *_for_clang(others), str(source)]
    code, words = run([*command, "-o", str(folder / "code")], _SECONDS)
    if code == 0 and names:
        code, more = run([*command, "-S", "-emit-llvm", "-o", str(folder / "ir")], _SECONDS)
        words += more
    (folder / "log").write_text(words.replace(f"{folder}/", ""))
    if code != 0:
        (folder / "code").unlink(missing_ok=True)
        return COMPILATION
    if names:
        (folder / "lowered").write_text(_symbols((folder / "ir").read_text(), len(names)))
    return SUCCESS


def _compiler() -> str | None:
    folder = os.environ.get("HIP_CLANG_PATH")
    paths = [str(Path(folder, "clang++"))] if folder else []
    return next((each for name in (*paths, *_COMPILERS) if (each := shutil.which(name))), None)


def _headers() -> str | None:
    """Return the folder that has include/hip."""
    folders = [os.environ.get("HIP_PATH"), os.environ.get("ROCM_PATH"), "/opt/rocm", "/usr"]
    there = [each for each in folders if each and Path(each, "include/hip/hip_runtime.h").exists()]
    return there[0] if there else None


def _for_clang(options: Sequence[str]) -> list[str]:
    """Return hiprtc's options as clang's. The device's processor stands: code for another one could
    not be loaded."""
    return [each for each in options if not _ARCHITECTURE.match(each) and each not in _OWN]


def _without_macros(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return definitions of the macros among options, and the other options. Macros are defined
    behind HIP's headers, which hiprtc has compiled before: -DT=float is not for their templates."""
    macros, others, left = [], [], list(options)
    while left:
        option = left.pop(0)
        if option in ("-D", "-U") and left:
            option += left.pop(0)
        name, _, value = option[2:].partition("=")
        if option.startswith("-D"):
            macros.append(f"#define {name} {value if '=' in option else 1}")
        elif option.startswith("-U"):
            macros.append(f"#undef {name}")
        else:
            others.append(option)
    return macros, others


def _references(names: Sequence[str]) -> str:
    """Return definitions that keep what is named, and by which its symbol is found."""
    lines = [
        f'extern "C" __device__ __attribute__((used)) const void *{_NAME.format(number=number)}'
        f" = (const void *)&{name.strip().removeprefix('&')};"
        for number, name in enumerate(names)
    ]
    return "\n" + "\n".join(lines) + "\n"


def _symbols(ir: str, count: int) -> str:
    """Return the symbols of the names, each terminated by a zero byte."""
    found = []
    for number in range(count):
        name = _NAME.format(number=number)
        line = re.search(rf"^@{name} = .*?@\"?([\w.$]+)", ir, re.MULTILINE)
        found.append(line[1] if line else "")
    return "".join(f"{symbol}\0" for symbol in found)
