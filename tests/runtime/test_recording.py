"""Recorded launches: `amdjit.replay` does what the launch did, and says what was wrong with it."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import LaunchError, OptionError, f32, shared, threadIdx
from amdjit.command_line import main
from amdjit.runtime.recording import RecordedLaunch


@amdjit.kernel
def scale(x, out, n):
    i = amdjit.grid(1)
    if i <= n:
        out[i] = x[i] * f32(2)


@amdjit.kernel
def reverse_rows(x, out, first: amdjit.Const):
    row, column = threadIdx.y, threadIdx.x
    part = shared.dynamic(f32)
    part[row * 8 + column] = x[row, column]
    amdjit.syncthreads()
    out[row, column] = part[row * 8 + 7 - column] + f32(first)


@amdjit.kernel
def add_records(points, total):
    i = amdjit.grid(1)
    amdjit.atomic.add(total, 0, points[i].x + points[i].y)


TABLE = amdjit.to_device(np.arange(32, dtype=np.int32))


@amdjit.kernel
def look_up(out):
    i = amdjit.grid(1)
    out[i] = TABLE[31 - i]


@amdjit.kernel
def positive(x):
    i = amdjit.grid(1)
    assert x[i] >= 0, "negative"


def recorded(
    folder: Path, kernel: Any, grid: Any, block: Any, *arguments: Any, lds: int = 0
) -> Path:
    with amdjit.record(folder) as found:
        kernel[grid, block, None, lds](*arguments)
    (file,) = found.files
    return file


def test_a_replay_gives_the_results_of_the_launch(tmp_path: Path) -> None:
    x = np.arange(80, dtype=np.float32).reshape(4, 20)[:, 2:10]
    out = np.zeros((4, 8), np.float32)
    file = recorded(tmp_path, reverse_rows, 1, (8, 4), x, out, 3, lds=128)
    found = amdjit.replay(file, check=())
    assert np.array_equal(found.results["out"], out)
    assert np.array_equal(found.results["x"], x)
    assert found.launch.shape.dynamic_lds == 128
    assert str(found).endswith("no report")


def test_records_atomics_and_arrays_from_outside(tmp_path: Path) -> None:
    points = np.ones(64, np.dtype([("x", np.float32), ("y", np.float32)]))
    total = np.zeros(1, np.float32)
    file = recorded(tmp_path / "a", add_records, 2, 32, points, total)
    assert amdjit.replay(file, check=()).results["total"] == [128] == total
    out = np.zeros(32, np.int32)
    file = recorded(tmp_path / "b", look_up, 1, 32, out)
    assert np.array_equal(amdjit.replay(file).results["out"], np.arange(32)[::-1])


@pytest.mark.parametrize("processor", ["gfx1100", "gfx942"])
def test_other_processors(tmp_path: Path, processor: str) -> None:
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with amdjit.use(f"emulator:{processor}"):
        file = recorded(tmp_path, scale, 1, 64, x, out, 63)
    found = amdjit.replay(file)
    assert not found.reports
    assert found.launch.target == processor
    assert np.array_equal(found.results["out"], 2 * x)


def test_the_checks_name_the_element_and_the_line(tmp_path: Path) -> None:
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    with pytest.raises(amdjit.KernelFault), amdjit.record(tmp_path) as launches:
        scale[4, 32](x, out, 100)
    found = amdjit.replay(launches.files[0])
    load, store = found.reports
    assert load.message == "load of 4 bytes at x[100], outside of x of shape (100,)"
    assert (store.array, store.index) == ("out", (100,))
    assert load.file == "test_recording.py"
    assert "out[i] = x[i] * f32(2)" in str(found)
    fault = amdjit.replay(launches.files[0], check=()).fault
    assert fault is not None
    assert fault.array == "x"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("float", np.float32), ("float32", np.float32), ("unsigned int", np.uint32),
        ("int", np.int32), ("Pair", "V4"), ("long", "V4"), ("", "V4"),
    ],
)  # fmt: skip
def test_elements_have_types_of_numpy_or_of_c(tmp_path: Path, name: str, expected: Any) -> None:
    """Arrays of programs in C++ have C's names, some of which are another type's in NumPy."""
    x = np.arange(64, dtype=np.float32)
    file = recorded(tmp_path, scale, 2, 32, x, np.zeros_like(x), 63)
    launch = RecordedLaunch.read(file)
    arrays = tuple(each._replace(dtype=name) for each in launch.arrays)
    replace(launch, arrays=arrays).write(tmp_path / "named.amdjit")
    found = amdjit.replay(tmp_path / "named.amdjit", check=()).results["x"]
    assert found.dtype == np.dtype(expected)
    assert found.tobytes() == x.tobytes()


def test_asserts(tmp_path: Path) -> None:
    x = np.arange(32, dtype=np.float32) - 5
    with pytest.raises(AssertionError), amdjit.record(tmp_path) as launches:
        positive[1, 32](x)
    for check in ((), ("memory",)):
        fault = amdjit.replay(launches.files[0], check=check).fault
        assert fault is not None
        assert fault.kind == "assert"
        assert 'assert x[i] >= 0, "negative"' in str(fault)
    good = recorded(tmp_path / "good", positive, 1, 32, np.ones(32, np.float32))
    assert amdjit.replay(good).fault is None


def test_counts(tmp_path: Path) -> None:
    x = np.arange(64, dtype=np.float32)
    file = recorded(tmp_path, scale, 2, 32, x, np.zeros_like(x), 63)
    found = amdjit.replay(file, count=True)
    assert found.profile is not None
    assert found.profile.launches[0].waves == 2


# What is in the files.


def test_files_have_no_folders(tmp_path: Path) -> None:
    x = np.arange(64, dtype=np.float32)
    file = recorded(tmp_path / "folder", scale, 2, 32, x, np.zeros_like(x), 63)
    folder = Path(__file__).parent.name.encode()
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            assert folder not in archive.read(name), name
    assert RecordedLaunch.read(file).lines["test_recording.py"]


def test_which_launches_are_recorded(tmp_path: Path) -> None:
    x, out = amdjit.to_device(np.ones(64, np.float32)), amdjit.zeros(64, np.float32)
    scale[2, 32](x, out, 63)
    bound = scale[2, 32].bind(x, out, 63)
    table = amdjit.zeros(32, np.int32)
    with (
        amdjit.record(tmp_path / "all") as everything,
        amdjit.record(tmp_path / "some", kernel="scale", most=2) as some,
    ):
        scale[2, 32](x, out, 63)  # launched before: a quick call
        bound()
        look_up[1, 32](table)
        scale[2, 32](x, out, 63)
    scale[2, 32](x, out, 63)
    assert [file.name for file in everything.files] == [
        "0000-scale.amdjit", "0001-scale.amdjit", "0002-look_up.amdjit", "0003-scale.amdjit",
    ]  # fmt: skip
    # The last ones are kept: those of a kernel that does not come back.
    assert [file.name for file in some.files] == ["0001-scale.amdjit", "0002-scale.amdjit"]
    assert sorted((tmp_path / "some").iterdir()) == some.files


def test_other_recorders_of_a_folder_lose_nothing(tmp_path: Path) -> None:
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    with amdjit.record(tmp_path) as one, amdjit.record(tmp_path) as other:
        scale[2, 32](x, out, 63)
        scale[2, 32](x, out, 63)
    later = recorded(tmp_path, scale, 2, 32, x, out, 63)
    files = [*one.files, *other.files, later]
    assert sorted(files) == sorted(tmp_path.iterdir())
    assert sorted(file.name[:4] for file in files) == ["0000", "0001", "0002", "0003", "0004"]


def test_memory_without_gaps(tmp_path: Path) -> None:
    """GPUs may put allocations side by side: the end of one is the beginning of the next."""
    file = recorded(tmp_path, scale, 2, 32, np.ones(64, np.float32), np.zeros(64, np.float32), 63)
    launch = RecordedLaunch.read(file)
    first, second = launch.pieces
    end = first.address + first.nbytes
    old, new = (address.to_bytes(8, "little") for address in (second.address, end))
    arrays = [
        each._replace(address=end) if each.address == second.address else each
        for each in launch.arrays
    ]
    moved = replace(
        launch,
        pieces=(first, replace(second, address=end)),
        kernarg=launch.kernarg.replace(old, new),
        arrays=tuple(arrays),
    )
    moved.write(tmp_path / "moved.amdjit")
    found = amdjit.replay(tmp_path / "moved.amdjit")
    assert not found.reports
    assert found.results["out"].tolist() == [2] * 64
    assert found.results["x"].tolist() == [1] * 64


def test_memory_beyond_the_limit_has_digests(tmp_path: Path) -> None:
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    with amdjit.record(tmp_path, limit=300) as launches:
        scale[2, 32](x, out, 63)
    pieces = RecordedLaunch.read(launches.files[0]).pieces
    assert [each.contents is None for each in pieces] == [False, True]
    assert all(bool(each.digest) == (each.contents is None) for each in pieces)
    with pytest.raises(LaunchError, match="256 bytes in all: record it with a higher limit="):
        amdjit.replay(launches.files[0])
    with pytest.raises(OptionError):
        amdjit.record(tmp_path, most=0)


def test_damaged_files(tmp_path: Path) -> None:
    x = np.arange(64, dtype=np.float32)
    good = recorded(tmp_path / "good", scale, 2, 32, x, np.zeros_like(x), 63)
    bad = tmp_path / "bad"
    bad.write_bytes(b"no archive")
    with pytest.raises(LaunchError, match="no recorded launch"):
        amdjit.replay(bad)
    with zipfile.ZipFile(good) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    form = json.loads(members["launch.json"])
    for change, reason in (
        ({"schema": "amdjit.record/9"}, "has the form"),
        ({"pieces": [{**form["pieces"][0], "nbytes": 1}]}, "damaged"),
        ({"kernarg": "xyz"}, "no recorded launch"),
        ({"statements": 3}, "no recorded launch"),
    ):
        with zipfile.ZipFile(bad, "w") as archive:
            archive.writestr("launch.json", json.dumps({**form, **change}))
            archive.writestr("code_object", members["code_object"])
            archive.writestr("memory/0", members["memory/0"])
        with pytest.raises(LaunchError, match=reason):
            amdjit.replay(bad)


PROGRAM = """
import numpy as np
import amdjit

@amdjit.kernel
def beyond(x):
    x[amdjit.grid(1)] = 1

x = amdjit.zeros(40, np.float32)
beyond[1, 64](x)
"""


def test_the_environment_variable_and_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMDJIT_RECORD", str(tmp_path / "launches"))
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    subprocess.run([sys.executable, str(program)], capture_output=True, check=False)
    (file,) = (tmp_path / "launches").iterdir()
    monkeypatch.delenv("AMDJIT_RECORD")
    assert main(["replay", str(file)]) == 3
    text = capsys.readouterr().out
    assert "store of 4 bytes at x[40], outside of x of shape (40,)" in text
    assert " --> program.py:7\n" in text
    page = tmp_path / "page.html"
    x = np.arange(64, dtype=np.float32)
    good = recorded(tmp_path / "good", scale, 2, 32, x, np.zeros_like(x), 63)
    assert main(["replay", str(good)]) == 0
    assert main(["replay", str(good), "--profile", str(page)]) == 0
    assert page.read_text().startswith("<!doctype html>")
    capsys.readouterr()
    assert main(["replay", str(tmp_path / "none")]) == 1
    assert "none cannot be read" in capsys.readouterr().err
