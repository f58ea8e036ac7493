"""What importing amdjit, and a compilation from the cache, do not load: each name here cost time
once. How much time is left, `benchmarks/import_time.py` measures."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from amdjit.runtime.hip import library

ROOT = Path(__file__).parents[1]

# Modules and rooms that nothing needs before a kernel is compiled, and of Python's own those that
# take long to load. NumPy loads some of them in some of its versions.
NOT_AT_IMPORT = (
    "amdjit.advice", "amdjit.algorithms", "amdjit.backend", "amdjit.code_object",
    "amdjit.command_line", "amdjit.compiler", "amdjit.cycles", "amdjit.disk_cache",
    "amdjit.isa", "amdjit.emulator.device", "amdjit.emulator.instructions",
    "amdjit.explorer", "amdjit.frontend.building", "amdjit.frontend.program",
    "amdjit.frontend.session", "amdjit.inspection", "amdjit.intrinsics.amdgcn",
    "amdjit.intrinsics.builtins", "amdjit.intrinsics.maths", "amdjit.intrinsics.matrix",
    "amdjit.intrinsics.python_builtins", "amdjit.lowering", "amdjit.profiling", "amdjit.testing",
    "amdjit.tree", "argparse", "asyncio", "decimal", "difflib", "fractions", "hashlib", "hip",
    "llvmlite", "msgpack", "multiprocessing", "rocm", "shutil", "sqlite3", "subprocess", "tempfile",
    "torch", "tokenize", "typing_extensions", "ziglang",
)  # fmt: skip
NOT_FOR_CACHED_CODE = (
    "amdjit.algorithms", "amdjit.backend.llvm", "amdjit.backend.process", "amdjit.isa",
    "amdjit.inspection", "amdjit.intrinsics.amdgcn", "amdjit.intrinsics.matrix",
    "llvmlite.binding", "multiprocessing", "subprocess", "tempfile",
)  # fmt: skip
# Nor does a launch on the emulator, of code that it has translated before, need what translates it.
NOT_FOR_A_KNOWN_LAUNCH = (
    "amdjit.algorithms", "amdjit.backend.process", "amdjit.code_object.debug_info",
    "amdjit.emulator.instructions", "amdjit.emulator.launch.faults",
    "amdjit.emulator.native_sources", "amdjit.emulator.tiers.full", "amdjit.emulator.tiers.quick",
    "amdjit.emulator.wave.frame", "amdjit.inspection", "amdjit.intrinsics.matrix",
    "amdjit.isa.decode", "amdjit.runtime.hip.device", "hip", "numpy.ma", "rocm", "subprocess",
)  # fmt: skip
LAUNCH = """
import amdjit
from amdjit.examples.vector_add import vector_add
x, out = numpy.ones(100, numpy.float32), numpy.zeros(100, numpy.float32)
vector_add[2, 64](x, x, out)
assert (out == 2).all()
"""
COMPILE = """
import amdjit
from amdjit.examples.vector_add import vector_add
vector_add.compile(amdjit.f32[:], amdjit.f32[:], amdjit.f32[:], target="gfx1201")
"""


def loaded(program: str, names: tuple[str, ...], **variables: str) -> list[str]:
    """Return which of some modules a new process has loaded after a program, and not for NumPy."""
    text = f"""
import sys, numpy, ml_dtypes
before = set(sys.modules)
{program}
print([name for name in sys.modules if name not in before
       and any(name == each or name.startswith(each + ".") for each in {names})])
"""
    environment = {"PYTHONPATH": str(ROOT), "HOME": "/nonexistent", **variables}
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return list(ast.literal_eval(done.stdout.splitlines()[-1]))


def test_importing_amdjit_loads_what_kernels_are_declared_with() -> None:
    assert loaded("import amdjit", NOT_AT_IMPORT) == []


def test_a_compilation_from_the_cache_needs_no_llvm_and_starts_no_process(tmp_path: Path) -> None:
    cache = {"AMDJIT_CACHE_DIR": str(tmp_path)}
    first = loaded(COMPILE, NOT_FOR_CACHED_CODE, **cache)
    assert "subprocess" in first  # or the names above say nothing
    assert loaded(COMPILE, NOT_FOR_CACHED_CODE, **cache) == []


def test_a_launch_of_translated_code_needs_no_translator_and_no_hip(tmp_path: Path) -> None:
    given = {"AMDJIT_CACHE_DIR": str(tmp_path), "ROCM_PATH": "", "LD_LIBRARY_PATH": ""}
    first = loaded(LAUNCH, NOT_FOR_A_KNOWN_LAUNCH, **given)
    assert "amdjit.emulator.tiers.full" in first  # or the names above say nothing
    found = loaded(LAUNCH, NOT_FOR_A_KNOWN_LAUNCH, **given)
    if library.is_there(None):  # HIP is asked for its devices
        found = [name for name in found if not name.startswith(("hip", "rocm", "amdjit.runtime"))]
    assert found == []


def test_a_command_loads_no_other() -> None:
    others = ("amdjit.command_line.bench", "amdjit.command_line.doctor", "amdjit.rocwmma")
    run = "from amdjit.command_line import main\nmain({})"
    assert loaded(run.format(["cache"]), others, AMDJIT_CACHE_DIR="") == []
