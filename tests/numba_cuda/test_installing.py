"""amdjit in the place of `numba.cuda`: each program is a process of its own, without Numba, or with
it if it is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTALL = "import amdjit.numba_cuda; amdjit.numba_cuda.install()\n"
# What stands for Numba where it is installed: nothing finds it.
HIDE_NUMBA = """
import sys
import importlib.machinery as machinery
found = machinery.PathFinder.find_spec
machinery.PathFinder.find_spec = classmethod(
    lambda cls, name, *rest: None if name.split(".")[0] == "numba" else found(name, *rest)
)
"""
KERNEL = """
import numpy as np
from numba import cuda, float32, types
import numba.cuda.random
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from numba.cuda.random import create_xoroshiro128p_states
from numba.core.errors import NumbaPerformanceWarning

@cuda.jit("void(float32[::1])")
def reverse(x):
    i = cuda.threadIdx.x
    tile = cuda.shared.array(32, float32)
    tile[i] = x[i]
    cuda.syncthreads()
    x[i] = tile[31 - i]

@cuda.jit(types.void(types.Array(types.float64, 1, "C"), types.UniTuple(types.float64, 2)))
def write(out, pair):
    out[0], out[1] = pair

x = np.arange(32, dtype=np.float32)
reverse[1, 32](x)
out = np.zeros(2)
write[1, 1](out, (3.0, 4.0))
assert (x == np.arange(31, -1, -1)).all() and list(out) == [3, 4]
assert isinstance(cuda.to_device(x), DeviceNDArray)
"""
UFUNCS = """
import numpy as np
from numba import float32, guvectorize, vectorize

@vectorize([float32(float32, float32)], target="cuda")
def add(x, y):
    return x + y

@guvectorize([(float32[:], float32[:])], "(n)->()", target="cuda")
def first(x, out):
    out[0] = x[0]

ones = np.ones((3, 2), np.float32)
assert (add(ones, ones) == 2).all() and (first(ones) == 1).all()
"""
NUMBAS_OWN = """
import numba
import numpy as np
from numba import cuda, njit, types

@njit
def twice(x):
    return 2 * x

pair = np.dtype([("x", "f4"), ("n", "i4")])

small = types.Tuple((numba.int8, numba.b1))

@cuda.jit(types.void(numba.from_dtype(pair)[:], numba.complex64, small))
def fill(records, z, both):
    tile = cuda.local.array(1, numba.float32)
    tile[0] = twice(z.real)
    records[0].x, records[0].n = tile[0], both[0]

records = np.zeros(1, pair)
fill[1, 1](records, np.complex64(3 + 1j), (np.int8(4), True))
assert records[0].item() == (6.0, 4) and twice(5) == 10
"""
OVERLOADS = """
import numpy as np
from numba import cuda
from numba.cuda import types as cuda_types
from numba.cuda.extending import overload, register_jitable

def length(x, scale=1):
    raise NotImplementedError

@overload(length)
def length_of_arrays(x, scale=1):
    if isinstance(x, cuda_types.Array):
        return lambda x, scale=1: x.size * scale

@overload(length, target="cpu")
def not_for_kernels(x, scale=1):
    return lambda x, scale=1: -1

@overload(length, target="generic")
def length_of_numbers(x, scale=1):
    if isinstance(x, (cuda_types.Integer, cuda_types.Tuple)) or x in (None, cuda_types.none):
        return lambda x, scale=1: scale

@cuda.jit
def lengths(x, out):
    out[0], out[1] = length(x), length(5, scale=2)
    out[2], out[3] = length((1, 2.0), 3), length(None, scale=4)

out = np.zeros(4)
lengths[1, 1](np.zeros(7, np.float32), out)
assert list(out) == [7, 2, 3, 4], out

@cuda.jit
def refused(out):
    out[0] = length(1.5)

import pytest
with pytest.raises(Exception, match=r"no overload of `length` implements \\(f64\\)"):
    refused[1, 1](out)
for wrong in (lambda: overload(len), lambda: overload(length, prefer_literal=True)):
    with pytest.raises(Exception, match="overload: "):
        wrong()
from numba.cuda.extending import intrinsic
with pytest.raises(Exception, match="intrinsic: it extends Numba's compiler"):
    intrinsic(length)
from numba.cuda.extending import models, typeof_impl
for wrong in (
    lambda: intrinsic(prefer_literal=True),
    lambda: typeof_impl.register(int),
    lambda: models.StructModel,
    lambda: cuda.declare_device("f", "int32(int32)"),
):
    with pytest.raises(cuda.AbsentError, match="@amdjit.intrinsic"):
        wrong()
assert not hasattr(models, "StructModel") and models.__doc__
"""
OVERLOADS_OF_NUMBA = """
import numpy as np
from numba import cuda, types
from numba.extending import overload

def shifted(x):
    pass

@overload(shifted)
def everywhere(x):
    if isinstance(x, types.Array):
        return lambda x: x[0] + 10
    return lambda x: x + 20

@overload(shifted, target="cuda")
def in_kernels(x):
    if isinstance(x, types.Float):
        return lambda x: x + 30

@cuda.jit
def write(x, out):
    out[0], out[1], out[2] = shifted(x), shifted(x[1]), shifted(7)

out = np.zeros(3)
write[1, 1](np.arange(4.0), out)
assert list(out) == [10, 31, 27], out

from numba.extending import intrinsic

@intrinsic
def doubled(context, x):
    return x(x), lambda context, builder, signature, values: builder.fadd(values[0], values[0])

@cuda.jit
def refused(out):
    out[0] = doubled(out[0])

import pytest
with pytest.raises(Exception, match="`@intrinsic` of Numba's compiler"):
    refused[1, 1](out)
"""
EXEC = """
import numpy as np
from numba import cuda

def made(operator):
    names = {}
    exec(f"def f(x):\\n    i = cuda.grid(1)\\n    x[i] = x[i] {operator} 3\\n", globals(), names)
    return names["f"]

for operator, result in [("+", 4), ("*", 3)]:
    x = np.ones(2)
    cuda.jit(made(operator))[1, 2](x)
    assert (x == result).all()

def made_beside_a_file():
    names = {}
    text = "def g(x):\\n    x[cuda.grid(1)] *= %d\\n" % (3 + 4)
    exec(compile(text, np.__file__, "exec"), globals(), names)
    return names["g"]

x = np.ones(2)
cuda.jit(made_beside_a_file())[1, 2](x)
assert (x == 7).all()
"""


def run(program: str, *command: str) -> subprocess.CompletedProcess[str]:
    start = command or (sys.executable, "-W", "ignore", "-c", program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(start, env=environment, capture_output=True, text=True, check=False)


def check(program: str) -> None:
    done = run(program)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "program", [KERNEL, UFUNCS, OVERLOADS, EXEC], ids=["kernels", "ufuncs", "overloads", "exec"]
)
def test_programs_run_without_numba(program: str) -> None:
    check(HIDE_NUMBA + INSTALL + program)


@pytest.mark.foreign
@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="Numba is not installed")
@pytest.mark.parametrize(
    "program",
    [KERNEL, UFUNCS, NUMBAS_OWN, OVERLOADS, OVERLOADS_OF_NUMBA],
    ids=["kernels", "ufuncs", "own", "overloads", "overloads_of_numba"],
)
def test_programs_run_with_numba(program: str) -> None:
    check(INSTALL + program)


def test_modules_are_amdjits_own_and_are_refused_by_name() -> None:
    check(
        HIDE_NUMBA
        + INSTALL
        + """
import amdjit
import numba.cuda.types, numba.cuda.dispatcher, numba.cuda.core.errors
import pytest
assert numba.cuda is amdjit.numba_cuda and numba.cuda.types is amdjit.numba_cuda.types
assert numba.cuda.__spec__.name == "amdjit.numba_cuda"
assert isinstance(numba.cuda.jit(lambda x: None), numba.cuda.dispatcher.CUDADispatcher)
amdjit.numba_cuda.install()
for module in ("numba.cuda.codegen", "numba.cuda.cudadrv.nvvm"):
    with pytest.raises(ModuleNotFoundError, match=f"amdjit has no module {module}"):
        __import__(module)
for name in ("njit", "jit"):
    with pytest.raises(ImportError, match=f"numba.{name}: .* Numba itself, .* is not installed"):
        getattr(numba, name)
with pytest.raises(ImportError, match="Numba is not installed"):
    import numba.typed
with pytest.raises(ImportError, match="target 'cpu'"):
    numba.vectorize(lambda x: x)
"""
    )


def test_modules_answer_for_names_that_nobody_has() -> None:
    """pickle asks all modules for the name of what it writes, and expects an AttributeError."""
    check(
        HIDE_NUMBA
        + INSTALL
        + """
import pickle, pkgutil, sys
import amdjit, numba, numba.cuda, numba.cuda.random, numba.extending, numba.types, numba.config
import numba.core.errors
for each in pkgutil.iter_modules(amdjit.numba_cuda.__path__, "amdjit.numba_cuda."):
    __import__(each.name)
for name, module in sorted(sys.modules.items()):
    if name.partition(".")[0] in ("amdjit", "numba"):
        assert not hasattr(module, "no_such_name"), name

def place(x):
    return x

place.__module__ = None
assert pickle.loads(pickle.dumps(place)) is place
"""
    )


def test_an_installation_at_the_start_of_python_lets_programs_start(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INSTALL)
    (tmp_path / "program.py").write_text(HIDE_NUMBA + KERNEL)
    paths = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    for program in (["-c", HIDE_NUMBA + KERNEL], [str(tmp_path / "program.py")]):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", *program],
            env={**os.environ, **paths},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_a_module_that_is_numbas_already_is_not_replaced() -> None:
    check(
        "import sys, types, pytest, amdjit.numba_cuda\n"
        "sys.modules['numba.cuda'] = types.ModuleType('numba.cuda')\n"
        "with pytest.raises(amdjit.LaunchError, match='before anything imports numba.cuda'):\n"
        "    amdjit.numba_cuda.install()\n"
    )


def test_the_command_runs_a_program_and_its_reports(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"{HIDE_NUMBA}{KERNEL}\nimport sys\nreverse[1, int(sys.argv[1])](x)\n")
    command = [sys.executable, "-m", "amdjit", "run", "--check", "memory", "--fail-on-report"]
    done = run("", *command, str(file), "32")
    assert done.returncode == 0, done.stderr
    done = run("", *command, str(file), "33")
    assert done.returncode == 3, done.stderr
    assert "global_load" in done.stderr
