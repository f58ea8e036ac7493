"""Code objects of other compilers. Each runs in a process of its own: it has an LLVM of its own, which may end it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ForeignObject:
    """A code object, and what its compiler says a launch needs."""

    compiler: str
    version: str
    code: bytes
    symbol: str
    work_items: int
    dynamic_lds: int = 0


def compile_in_child(script: str, request: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Run one of the compile scripts beside this file; return the code object and what the script says of it.

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
        assert done.returncode == 0, f"{script} ended with {done.returncode}:\n{done.stderr[-4000:]}"
        return output.read_bytes(), json.loads(done.stdout.splitlines()[-1])


def compile_triton(request: dict[str, Any]) -> ForeignObject:
    """Compile a kernel of `triton_kernels.py`."""
    code, facts = compile_in_child("compile_triton.py", request)
    return ForeignObject("Triton", facts["version"], code, facts["symbol"], facts["work_items"], facts["lds"])
