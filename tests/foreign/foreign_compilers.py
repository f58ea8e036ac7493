"""Code objects of other compilers. Each runs in a process of its own: it has an LLVM of its own,
which may end it."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from amdjit.code_object import CodeObject

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ForeignObject:
    """A code object, and what its compiler says a launch needs."""

    compiler: str
    version: str
    code: bytes
    symbol: str
    work_items: int | tuple[int, int, int]
    dynamic_lds: int = 0


def compile_in_child(script: str, request: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Run one of the compile scripts beside this file; return the code object and what the script
    says of it.

    Skips the test where the compiler is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "kernel.co")
        # Caches of the compilers stay out of the user's, so that every run compiles.
        environment = os.environ | {"TRITON_CACHE_DIR": folder, "FLYDSL_RUNTIME_CACHE_DIR": folder}
        done = subprocess.run(
            [sys.executable, str(FOLDER / script), str(output)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        if "ModuleNotFoundError: No module named" in done.stderr:
            pytest.skip(f"{done.stderr.strip().splitlines()[-1]}; pip install amdjit[foreign]")
        assert done.returncode == 0, (
            f"{script} ended with {done.returncode}:\n{done.stderr[-4000:]}"
        )
        return output.read_bytes(), json.loads(done.stdout.splitlines()[-1])


def compile_triton(request: dict[str, Any]) -> ForeignObject:
    """Compile a kernel of `triton_kernels.py`."""
    code, facts = compile_in_child("compile_triton.py", request)
    return ForeignObject(
        "Triton", facts["version"], code, facts["symbol"], facts["work_items"], facts["lds"]
    )


def compile_hip(
    source: str, kernel: str, work_items: int, level: str, dynamic_lds: int = 0
) -> ForeignObject:
    """Compile a program of the folder `hip` by clang, which needs no ROCm for it."""
    compiler = shutil.which("clang-22")
    if compiler is None:
        pytest.skip("clang-22 is not installed")
    return ForeignObject(
        "clang",
        _clang_version(compiler),
        _hip_object(compiler, source, level),
        kernel,
        work_items,
        dynamic_lds,
    )


@functools.cache
def _hip_object(compiler: str, source: str, level: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "kernel.co")
        options = [
            "-x",
            "hip",
            "--offload-arch=gfx1201",
            "--offload-device-only",
            "-nogpuinc",
            "-nogpulib",
        ]
        options += [
            "--no-gpu-bundle-output",
            "-std=c++17",
            "-g",
            level,
            str(FOLDER / "hip" / source),
            "-o",
            str(output),
        ]
        subprocess.run([compiler, *options], check=True)
        return output.read_bytes()


@functools.cache
def _clang_version(compiler: str) -> str:
    text = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"version (\d+\.\d+\.\d+)", text)
    assert found, text
    return found[1]


def compile_flydsl(request: dict[str, Any]) -> ForeignObject:
    """Compile the GEMM of `flydsl_kernels.py`."""
    code, facts = compile_in_child("compile_flydsl.py", request)
    return ForeignObject(
        "FlyDSL", facts["version"], code, facts["symbol"], facts["work_items"], facts["lds"]
    )


@dataclass(frozen=True)
class IreeProgram:
    """A program that IREE compiled: its host function's text, and the code object of each
    executable."""

    version: str
    host: str
    objects: dict[str, bytes]

    def kernel(self, executable: str, function: str) -> ForeignObject:
        """Return a kernel of an executable; IREE fixes its work-items when it compiles."""
        code = self.objects[executable]
        kernels = CodeObject.read(code).kernels
        block = kernels[function].metadata.required_workgroup_size
        assert block is not None
        return ForeignObject("IREE", self.version, code, function, block)


def compile_iree(source: str, *flags: str) -> IreeProgram:
    """Compile a program in MLIR."""
    compiler = shutil.which(
        "iree-compile", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if compiler is None:
        pytest.skip("iree-compile is not installed; pip install amdjit[foreign]")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "program.mlir").write_text(source)
        options = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx1201"]
        options.append("--iree-input-demote-f64-to-f32=false")
        # Commands with the buffers themselves, where the host function records them.
        options += ["--iree-hal-memoization=false", "--iree-hal-indirect-command-buffers=false"]
        options += [
            "--compile-to=hal",
            "--iree-hal-dump-executable-binaries-to=.",
            "-o",
            "host.mlir",
            *flags,
        ]
        done = subprocess.run(
            [compiler, "program.mlir", *options],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (
            f"iree-compile ended with {done.returncode}:\n{done.stderr[-4000:]}"
        )
        objects = {
            path.name.removeprefix("module_").removesuffix(
                "_rocm_hsaco_fb.hsaco"
            ): path.read_bytes()
            for path in Path(folder).glob("*.hsaco")
        }
        return IreeProgram(_iree_version(compiler), Path(folder, "host.mlir").read_text(), objects)


@functools.cache
def _iree_version(compiler: str) -> str:
    text = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"compiler version (\S+)", text)
    assert found, text
    return found[1]
