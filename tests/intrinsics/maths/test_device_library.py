"""Functions of f64 out of OCML, and functions of users' bitcode, linked into kernels."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import LlvmCall, f32, f64, i32
from amdjit.backend import find_ocml
from amdjit.diagnostics import BackendError, CompileError
from amdjit.intrinsics import math as real
from amdjit.options import Environment

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import math_accuracy as accuracy

needs_ocml = pytest.mark.skipif(find_ocml(Environment()) is None, reason="OCML is not installed")
RANDOM = np.random.default_rng(5)
NUMBERS = np.concatenate(
    [RANDOM.normal(size=2000) * RANDOM.choice([0.1, 1, 10], 2000), [0.0, -0.0, 1, -1, 1e22, 700]]
)


def double_errors(found: np.ndarray[Any, Any], true: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return distances in units of the last place of f64."""
    with np.errstate(all="ignore"):
        error = np.abs(found - true) / np.spacing(np.abs(true))
    same = (found == true) | (np.isnan(found) & np.isnan(true))
    return np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))


OF_OTHERS = ("sqrt", "rsqrt", "exp10", "tgamma", "lgamma")
"""Not of OCML, without a reference, and tested below."""

SAMPLED = ("exp", "log1p", "cbrt")


@needs_ocml
@pytest.mark.parametrize(
    "name",
    [
        name if name in SAMPLED else pytest.param(name, marks=pytest.mark.exhaustive)
        for name in accuracy.REFERENCES
        if name not in OF_OTHERS
    ],
)
def test_functions_of_doubles_agree_with_the_host(name: str) -> None:
    function = getattr(real, name)

    @amdjit.kernel(f64_math="ocml")
    def of_one(x, out):
        i = amdjit.grid(1)
        if i < x.size:
            out[i] = function(x[i])

    out = np.zeros_like(NUMBERS)
    of_one[8, 256](NUMBERS, out)
    with np.errstate(all="ignore"):
        errors = double_errors(out, accuracy.REFERENCES[name](NUMBERS))
    worst = int(np.argmax(errors))
    assert errors[worst] <= 4, f"{name}({NUMBERS[worst]!r})"


@amdjit.kernel
def of_several(x, y, k, out):
    i = amdjit.grid(1)
    out[0, i] = math.atan2(x[i], y[i])
    out[1, i] = np.hypot(x[i], 2.0)
    out[2, i] = math.pow(abs(x[i]), y[i])
    out[3, i] = abs(x[i]) ** y[i]
    out[4, i] = np.sin(k[i])
    out[5, i] = math.remainder(x[i], y[i])
    out[6, i] = math.gamma(abs(x[i]))
    out[7, i] = math.lgamma(abs(x[i]))


@pytest.mark.sample(1)
@needs_ocml
@pytest.mark.parametrize("wave_size", [32, 64])
def test_functions_of_two_doubles_and_of_long_integers(wave_size: int) -> None:
    x, y = RANDOM.normal(size=(2, 64)) * 4
    k = RANDOM.integers(-(2**40), 2**40, 64)
    out = np.zeros((8, 64))
    amdjit.kernel(wave_size=wave_size, f64_math="ocml")(of_several.function)[1, 64](x, y, k, out)
    power = np.power(np.abs(x), y)
    wanted = [np.arctan2(x, y), np.hypot(x, 2.0), power, power, np.sin(k)]
    for row, (ours, true) in enumerate(zip(out, wanted, strict=False)):
        np.testing.assert_allclose(ours, true, rtol=1e-14, err_msg=str(row))
    np.testing.assert_array_equal(out[5], accuracy.each(math.remainder)(x, y))
    np.testing.assert_allclose(out[6], accuracy.each(math.gamma)(np.abs(x)), rtol=1e-14)
    np.testing.assert_allclose(
        out[7], accuracy.each(math.lgamma)(np.abs(x)), rtol=1e-13, atol=1e-14
    )


@pytest.mark.parametrize("function", [math.sin, math.pow, np.exp])
def test_without_the_library_the_error_names_the_remedies(
    function: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMDJIT_DEVICE_LIBS", str(tmp_path))
    arguments = 2 if function is math.pow else 1

    @amdjit.kernel(f64_math="ocml")
    def of_doubles(a):
        if arguments == 2:
            a[0] = function(a[0], a[1])
        else:
            a[0] = function(a[0])

    with pytest.raises(
        CompileError,
        match=r"AJ0405.*of OCML(?s:.*)leave out(?s:.*)rocm-device-libs(?s:.*)AMDJIT_DEVICE_LIBS",
    ):
        of_doubles.compile(f64[:])
    assert of_doubles.compile(f32[:]).code_object


def test_the_library_is_looked_for_where_the_environment_says(tmp_path: Path) -> None:
    assert find_ocml(Environment(device_libraries=tmp_path)) is None
    (tmp_path / "ocml.bc").write_bytes(b"")
    assert (
        find_ocml(Environment(device_libraries=tmp_path, search_path="changed"))
        == tmp_path / "ocml.bc"
    )
    folder = tmp_path / "rocm" / "amdgcn" / "bitcode"
    folder.mkdir(parents=True)
    (folder / "ocml.bc").write_bytes(b"")
    assert find_ocml(Environment(rocm_path=tmp_path / "rocm")) == folder / "ocml.bc"


@pytest.mark.parametrize("machine", ["aarch64", "x86_64"])
def test_debians_library_is_found_on_every_processor(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"{machine}-linux-gnu" / "amdgcn" / "bitcode" / "ocml.bc"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    monkeypatch.setattr("amdjit.backend.ocml._DEBIAN", tmp_path)
    monkeypatch.setattr("amdjit.backend.ocml._DEFAULT_ROCM", tmp_path / "none")
    assert find_ocml(Environment(search_path=machine)) == file


IR = """
define i32 @thrice(i32 %x) {
  %y = call i32 @inner(i32 %x)
  ret i32 %y
}
define internal i32 @inner(i32 %x) noinline {
  %y = mul i32 %x, 3
  ret i32 %y
}
"""


def run_linked(file: Path, symbol: str = "thrice") -> np.ndarray[Any, Any]:
    @amdjit.intrinsic(LlvmCall(symbol, library=file))
    def linked(x: i32) -> i32: ...

    @amdjit.kernel
    def use(a):
        a[amdjit.grid(1)] = linked(a[amdjit.grid(1)])

    numbers = np.arange(32, dtype=np.int32)
    use[1, 32](numbers)
    return numbers


def test_functions_of_a_users_ir_are_linked(tmp_path: Path) -> None:
    file = tmp_path / "thrice.ll"
    file.write_text(IR)
    np.testing.assert_array_equal(run_linked(file), np.arange(32) * 3)
    file.write_text(IR.replace("i32 %x, 3", "i32 %x, 5"))
    np.testing.assert_array_equal(run_linked(file), np.arange(32) * 5)


@pytest.mark.skipif(shutil.which("clang-22") is None, reason="clang-22 is not installed")
def test_functions_of_clangs_bitcode_are_linked_for_their_processor_only(tmp_path: Path) -> None:
    source = tmp_path / "square.c"
    source.write_text("int square(int x) { return x * x; }\n")
    for target in ("gfx1201", "gfx1100"):
        command = [
            "clang-22",
            "-target",
            "amdgcn-amd-amdhsa",
            f"-mcpu={target}",
            "-nogpulib",
            "-O2",
            "-emit-llvm",
            "-c",
        ]
        subprocess.run([*command, str(source), "-o", str(tmp_path / f"{target}.bc")], check=True)
    np.testing.assert_array_equal(run_linked(tmp_path / "gfx1201.bc", "square"), np.arange(32) ** 2)
    with pytest.raises(BackendError, match="a library is for gfx1100, and the kernel for gfx1201"):
        run_linked(tmp_path / "gfx1100.bc", "square")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("define i32 @other(i32 %x) { ret i32 %x }", "calls thrice, which nothing defines"),
        ("this is no IR", "cannot link a library"),
        ('target triple = "x86_64-pc-linux-gnu"\n' + IR, "a library is for x86_64-pc-linux-gnu"),
        (
            "define i64 @thrice(i64 %x) { ret i64 %x }",
            "thrice is i64 \\(i64\\), and is declared as i32 \\(i32\\)",
        ),
    ],
)
def test_libraries_that_do_not_fit_are_refused(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "library.ll"
    file.write_text(content)
    with pytest.raises(BackendError, match=message):
        run_linked(file)
