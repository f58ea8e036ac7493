"""What new users meet first: launches without a call, mistyped names, short texts of objects."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit import LaunchError, LaunchWarning, f32, i32
from amdjit import numba_cuda as cuda
from amdjit.checking.array_places import Place, line_note
from amdjit.diagnostics import TypeCheckError
from amdjit.options import OptionError
from tests.api.lanes import DEVICE


@amdjit.kernel
def double(x, out):
    i = amdjit.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * x[i]


@amdjit.autotune(space={"per": [1]})
@amdjit.kernel
def tuned(x, per: amdjit.Const):
    x[0] = per


@cuda.jit
def of_numba(x):
    x[0] = 1


def test_a_launch_without_its_call_is_warned_of() -> None:
    quiet = double.with_options(warnings=False)
    with amdjit.use(DEVICE):
        stream = amdjit.Stream()
    double[1, 64](np.ones(4, np.float32), np.ones(4, np.float32))  # the launcher is known then
    with pytest.warns(LaunchWarning, match=r"double\[grid, block\] alone launches nothing"):
        double[1, 64]
    with pytest.warns(LaunchWarning):
        double[(1,), (64,)]
    with pytest.warns(LaunchWarning):
        double[1, 64, stream]
    with pytest.warns(LaunchWarning, match=r"double.forall\(...\) alone"):
        double.forall(64)
    with pytest.warns(LaunchWarning, match=r"double.launch\(...\) alone"):
        double.launch(grid=1, block=64)
    with pytest.warns(LaunchWarning, match=r"tuned\[grid, block\]"):
        tuned[1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet[1, 64]


def test_launches_and_kept_launchers_are_not_warned_of() -> None:
    x = np.ones(4, np.float32)

    def launch() -> None:  # named like the method of a kernel
        double[1, 64](x, x)

    with amdjit.use(DEVICE), warnings.catch_warnings():
        warnings.simplefilter("error")
        double[1, 64](x, x)
        launch()
        double.forall(4)(x, x)
        double.launch(1, 64)(x, x)
        kept = double[1, 64]
        kept(x, x)
        listed = [double[1, block] for block in (1, 2)]
        assert double[1, 64] is kept
        of_numba[1, 1](x)
        amdjit.sort(x)
    assert len(listed) == 2


def test_a_mistyped_argument_is_named() -> None:
    x = np.ones(4, np.float32)
    with pytest.raises(LaunchError, match=r"no parameter `outt`. Did you mean `out=`\?"):
        double[1, 64](x, outt=x)
    with pytest.raises(LaunchError, match=r"no parameter `other`\.$"):
        double[1, 64](x, x, other=x)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("cuda", "numba_cuda as cuda"), ("njit", "@amdjit.kernel"), ("float32", "write `amdjit.f32`"),
     ("int64", "write `amdjit.i64`"), ("prange", r"amdjit.grid\(1\)")],
)  # fmt: skip
def test_names_of_other_libraries_say_what_is_meant(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}': .*{meant}"):
        getattr(amdjit, name)
    with pytest.raises(AttributeError, match=r"no attribute 'to_devise'$") as caught:
        amdjit.to_devise  # noqa: B018
    assert caught.value.name == "to_devise"  # Python suggests `to_device` with it


def test_copies_to_the_host_by_other_names_are_known() -> None:
    with amdjit.use(DEVICE):
        array = amdjit.zeros(3)
    for name in ("numpy", "cpu", "get"):
        with pytest.raises(AttributeError, match=r"a.copy_to_host\(\)"):
            getattr(array, name)


@pytest.mark.parametrize(
    "types",
    [("f32[:]", "f32[:]"), ("void(f32[:], f32[:])",), ("(float32[:], float32[::1])",),
     (f32[:], "float32[:]"), (np.dtype("f4"), f32[:])],
)  # fmt: skip
def test_types_may_be_written_as_text(types: tuple[object, ...]) -> None:
    if isinstance(types[0], np.dtype):
        with pytest.raises(TypeCheckError, match="f32 cannot be indexed"):
            double.compile(*types)
    else:
        assert double.compile(*types).signature == "double(f32[::1], f32[::1])"
    with pytest.raises(OptionError, match="`flaot` is no type"):
        double.compile("flaot[:]", "f32[:]")
    with amdjit.use(DEVICE):
        specialised = double.specialize("void(f32[:], f32[:])")
    assert specialised.specialized
    assert tuned.compile("(f32[:])", config={"per": 1}).signature == "tuned(f32[::1], 1)"


def test_a_text_stays_the_value_of_a_constant_parameter() -> None:
    @amdjit.kernel
    def chosen(x, name: amdjit.Const):
        if name == "f32":
            x[0] = 1

    assert chosen.compile("i32[:]", "f32").signature == "chosen(i32[::1], 'f32')"


def test_objects_print_in_one_line() -> None:
    with amdjit.use(DEVICE):
        array = amdjit.zeros(4, np.float32)
        compiled = double.compile(f32[:], f32[:])
        with amdjit.profile() as profile:
            double[1, 64](array, array)
        prepared = double.prepare(array, array)
        shown = [
            array, array[0], compiled, compiled.inspect(), compiled.linked, compiled.options,
            compiled.target, compiled.program, compiled.resources, profile, profile.launches[0],
            prepared, double, double[1, 64], double.forall(3), tuned[1, 1], amdjit.Stream(),
            amdjit.Event(), double[1, 64].bind(array, array), f32, f32[:], amdjit.f32x4,
            (f32, i32), amdjit.current_device(), amdjit.load(compiled.code_object),
            amdjit.bench(double[1, 64], array, array),
        ]  # fmt: skip
    for each in shown:
        text = repr(each)
        assert len(text) < 250, text
        assert "\n" not in text
        assert " object at 0x" not in text
    assert repr(compiled).startswith("<double(f32[::1], f32[::1]) for gfx1201: ")
    assert repr(double[1, 64]) == (
        "<launch of double, grid 1, block 64, to be called with its arguments>"
    )
    assert repr(f32) == "amdjit.f32"
    assert repr(double.with_options(unroll=2).complete_options(compiled.target)) == (
        "<options for gfx1201, bounds_check=False, unroll=2>"
    )


LINES = """out[i + 1] = x[i]
x[i] = x[i] + 1
y = x[i] + x[i + 1]
m[i, j + 1] += 2
"""


@pytest.mark.parametrize(
    ("line", "place", "is_store", "marked", "guard"),
    [
        (1, Place("out", (64,), (64,)), True, "out[i + 1]", "if i + 1 < out.shape[0]:"),
        (1, Place("x", (-2,), (64,)), False, "x[i]", "if i >= 0:"),
        (2, Place("x", (9,), (9,)), False, "x[i]", "if i < x.shape[0]:"),
        (3, Place("x", (9,), (9,)), False, "y = x[i] + x[i + 1]", "if index < x.shape[0]:"),
        (4, Place("m", (1, 5), (4, 5)), None, "m[i, j + 1]", "if j + 1 < m.shape[1]:"),
        (4, Place("m", (4, 5), (4, 5)), None, "m[i, j + 1]",
         "if i < m.shape[0] and j + 1 < m.shape[1]:"),
    ],
)  # fmt: skip
def test_a_fault_shows_its_line_and_the_guard(
    line: int, place: Place, is_store: bool | None, marked: str, guard: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines.py"
    file.write_text(LINES)
    note = line_note(str(file), line, place, is_store).splitlines()
    text, carets = note[2], note[3]
    start, end = carets.index("^"), len(carets)
    assert text[start:end] == marked
    assert note[4] == f"  help: guard the access, `{guard}`"
