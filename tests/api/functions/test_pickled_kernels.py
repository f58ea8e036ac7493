"""Kernels travel to other processes: by their names, as functions do, or with cloudpickle whole."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32
from amdjit.declarations import Coordinates, DeviceFunction, Intrinsic
from amdjit.intrinsics import amdgcn, matrix, wave
from amdjit.types import Scalar

cloudpickle = pytest.importorskip("cloudpickle")

MODULE = """
import amdjit
from amdjit import f32

@amdjit.device_function
def twice(x):
    return 2 * x

@amdjit.kernel(fastmath=True)
def doubled(x: f32[:]):
    i = amdjit.grid(1)
    x[i] = twice(x[i])

def make(n):
    def plus(x):
        more: bf16 = n
        return x + more

    @amdjit.kernel
    def increased(x: f32[:]):
        x[amdjit.grid(1)] = plus(x[amdjit.grid(1)])
    return increased

from amdjit import bf16
"""
PROGRAM = """
import multiprocessing, pathlib, pickle, sys
import numpy as np
import amdjit, kernels_of_workers
from amdjit import f32, grid, shared, threadIdx

def successor(v):
    return v + 1

@amdjit.device_function
def thrice(x):
    return 3 * x

@amdjit.kernel(wave_size=64)
def local(x: f32[:]):
    tile = shared.array(64, f32)
    tile[threadIdx.x] = successor(x[grid(1)])
    x[grid(1)] = thrice(tile[threadIdx.x])

def run(kernel):
    x = np.ones(4, np.float32)
    kernel[1, 4](x)
    return x.tolist(), [c.options.wave_size for c in kernel.specialisations]

if __name__ == "__main__":
    kernels = [kernels_of_workers.doubled, local]
    if sys.argv[1] == "loky":
        from loky import get_reusable_executor
        print(list(get_reusable_executor(1).map(run, [*kernels, kernels_of_workers.make(7)])))
    elif sys.argv[1] == "cloudpickle":
        import cloudpickle
        kernels.append(kernels_of_workers.make(7))
        pathlib.Path("pickled").write_bytes(cloudpickle.dumps((run, kernels)))
    else:
        with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
            print(pool.map(run, kernels))
"""
READER = """
import pickle
with open("pickled", "rb") as file:
    run, kernels = pickle.load(file)
print([run(kernel) for kernel in kernels])
"""
TWO = "[([2.0, 2.0, 2.0, 2.0], [32]), ([6.0, 6.0, 6.0, 6.0], [64])"
THREE = f"{TWO}, ([8.0, 8.0, 8.0, 8.0], [32])]"


def run(folder: Path, *arguments: str) -> str:
    child = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels_of_workers.py").write_text(MODULE)
    (tmp_path / "program_with_workers.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_kernels_reach_processes_of_multiprocessing(folder: Path, method: str) -> None:
    assert run(folder, "program_with_workers.py", method) == f"{TWO}]"


def test_kernels_reach_processes_of_loky(folder: Path) -> None:
    pytest.importorskip("loky")
    assert run(folder, "program_with_workers.py", "loky") == THREE


def test_a_pickle_of_cloudpickle_needs_no_file_of_the_program(folder: Path) -> None:
    run(folder, "program_with_workers.py", "cloudpickle")
    (folder / "program_with_workers.py").unlink()
    text = (folder / "kernels_of_workers.py").read_text()
    (folder / "kernels_of_workers.py").write_text(text.replace("more: bf16", "more: f32"))
    assert run(folder, "-c", READER) == THREE


@amdjit.device_function
def tenfold(x: Any) -> Any:
    return 10 * x


@amdjit.kernel
def scaled(x: f32[:]) -> None:  # type: ignore[valid-type]
    x[0] = tenfold(x[0])


@amdjit.vectorize
def halved(x: Any) -> Any:
    return x / 2


def test_pickles_and_copies_are_the_object_itself() -> None:
    for value in (scaled, tenfold, halved):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(value, protocol)) is value
        assert len(pickle.dumps(value)) < 200
        assert copy.copy(value) is value
        assert copy.deepcopy([value])[0] is value


NAMESPACES = {
    "amdjit": amdjit,
    "wave": wave,
    "matrix": matrix,
    "atomic": amdjit.atomic,
    "amdgcn": amdgcn,
}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_what_kernels_use_of_amdjit_is_pickled_by_reference(namespace: str) -> None:
    module = NAMESPACES[namespace]
    public = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    values = [getattr(module, name) for name in public]
    for value in values:
        if isinstance(value, (Intrinsic, DeviceFunction, Coordinates, Scalar)):
            assert pickle.loads(pickle.dumps(value)) is value


def make() -> amdjit.Kernel:
    @amdjit.kernel
    def inner(x: f32[:]) -> None:  # type: ignore[valid-type]
        x[0] = 5

    return inner


def test_a_vectorized_function_without_a_name_is_taken_along() -> None:
    made = amdjit.vectorize(lambda x: x * 3)
    again = pickle.loads(cloudpickle.dumps(made))
    assert again(np.arange(3)).tolist() == [0, 3, 6]


def test_a_kernel_without_a_name_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "cloudpickle")
        with pytest.raises(pickle.PicklingError, match="of a module, or import cloudpickle"):
            pickle.dumps(make())
    x = np.zeros(1, np.float32)
    pickle.loads(cloudpickle.dumps(make()))[1, 1](x)
    assert x[0] == 5


def test_a_kernel_that_the_reader_does_not_have_says_what_to_do(folder: Path) -> None:
    write = "\n".join(
        (
            "import __main__, pickle",
            "from program_with_workers import local",
            "__main__.local = local",
            "local.function.__module__ = '__main__'",
            "open('pickled', 'wb').write(pickle.dumps(local))",
        )
    )
    run(folder, "-c", write)
    failed = subprocess.run(
        [sys.executable, "-c", "import pickle; pickle.load(open('pickled', 'rb'))"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert "`local` was pickled as a variable of __main__" in failed.stderr
    assert "define it in a module, or import cloudpickle" in failed.stderr
