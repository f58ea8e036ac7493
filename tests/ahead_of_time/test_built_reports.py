"""What kernels tell the host: prints, faults and the grid's barrier, from C as from Python."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32
from amdjit.ahead_of_time import build
from amdjit.diagnostics import KernelFault, LaunchError
from tests.ahead_of_time import reporting_kernels as kernels
from tests.ahead_of_time.standin_programs import compile_c, needs_standin, run_programs

pytestmark = needs_standin

RAMP = np.arange(128, dtype=np.float32) / 2
CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...], dict[str, object]]] = {
    "printing": (kernels.printing, (f32[:], i32), (RAMP, np.int32(3)), {"N_VALUE": 3}),
    "asserting": (kernels.asserting, (f32[:],), (RAMP,), {}),
    "raising": (kernels.raising, (f32[:], i32), (RAMP, np.int32(7)), {"N_VALUE": 7}),
    "indexing": (
        kernels.indexing,
        (f32[:], f32[:, :]),
        (RAMP, np.zeros((100, 4), np.float32)),
        {"Y_EXTENT0": 100, "Y_EXTENT1": 4},
    ),
}


def with_ramp(folder: Path) -> None:
    """Let the example fill x with RAMP, as a user would change it."""
    file = folder / "main.c"
    text, count = re.subn(
        r"(static void fill_x\(.*?values\[i\] = ).*?;", r"\1(float)i / 2;", file.read_text(),
        flags=re.DOTALL,
    )  # fmt: skip
    assert count == 1
    file.write_text(text)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each program writes, to stdout and then to stderr."""
    folder = tmp_path_factory.mktemp("reports")
    programs = {}
    for name, (kernel, types, _, settings) in CASES.items():
        build(kernel, *types, embed=True).write(folder / name)
        with_ramp(folder / name)
        macros = {"GRID_X": 2, "GRID_Y": 1, "BLOCK_X": 64, "BLOCK_Y": 1, "X_EXTENT0": 128}
        flags = [f"-D{key}={value}" for key, value in {**macros, **settings}.items()]
        sources = sorted((folder / name).glob("*.c"))
        programs[name] = compile_c(folder / f"{name}.so", sources, *flags)
    return run_programs(programs, folder)


def told_to_python(name: str) -> str:
    """What the same launch tells Python, with file names as C has them, and without the line of the
    source, which C does not have."""
    kernel, _, arguments, _ = CASES[name]
    written = io.StringIO()
    with amdjit.use("emulator:gfx1201"), contextlib.redirect_stdout(written):
        try:
            kernel[2, 64](*(each.copy() for each in arguments))
        except KernelFault as fault:
            written.write(re.sub(r"\n +\|\n.*", "", fault.message, flags=re.DOTALL) + "\n")
    return re.sub(r"at \S*/(\w+\.py:\d+)", r"at \1", written.getvalue())


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CASES)
def test_c_tells_what_python_tells(name: str, told: dict[str, str]) -> None:
    expected = told_to_python(name)
    assert len(expected.splitlines()) > 1
    if name == "printing":
        assert told[name] == f"{expected}exit 0\n"
    else:
        assert told[name] == f"{expected}exit 1\n"


def test_a_cooperative_kernel_meets_in_c(tmp_path: Path) -> None:
    targets = ["gfx1201", "gfx942"]
    build(kernels.mirrored, f32, f32[:], f32[:], embed=True, target=targets).write(tmp_path)
    with_ramp(tmp_path)
    flags = [f"-D{each}" for each in ("GRID_X=2", "BLOCK_X=64", "X_EXTENT0=128", "SHOWN=999")]
    flags += ["-DRECORD_VALUE=5", "-DKERNEL_EXTENT0=128"]
    program = compile_c(tmp_path / "mirrored.so", sorted(tmp_path.glob("*.c")), *flags)
    text = run_programs({"mirrored": program}, tmp_path, "gfx942")["mirrored"]
    found = {line.split(":")[0]: line.split()[1:] for line in text.splitlines()}
    assert text.endswith("exit 0\n")
    np.testing.assert_array_equal(np.array(found["KERNEL"], np.float32), RAMP[::-1] + 5)


_TWICE = """\
#include "flooding.h"
int main(void) {
  const unsigned grid[3] = {10, 1, 1}, block[3] = {1, 1, 1};
  flooding_kernel kernel;
  flooding_record record;
  flooding_arguments arguments = {100, NULL};
  int has_failed, i;
  if (flooding_load_embedded(&kernel)) return 1;
  puts(flooding_refusal(&kernel, grid, block, 0, &arguments));
  arguments.record = &record;
  if (flooding_record_make(&record)) return 2;
  for (i = 0; i < 2; i++) {
    arguments.n += i;
    if (flooding_launch(&kernel, grid, block, 0, NULL, &arguments)) return 3;
    if (flooding_record_tell(&record, &kernel, stdout, stderr, &has_failed)) return 4;
  }
  return flooding_record_free(&record) || has_failed;
}
"""


def test_a_record_is_as_new_for_each_launch_and_tells_what_it_lost(tmp_path: Path) -> None:
    build(kernels.flooding, embed=True, print_buffer=64).write(tmp_path)
    (tmp_path / "main.c").write_text(_TWICE)
    program = compile_c(tmp_path / "twice.so", sorted(tmp_path.glob("*.c")))
    lines = run_programs({"twice": program}, tmp_path)["twice"].splitlines()
    assert lines[0] == "the kernel reports: let record point to what flooding_record_make made"
    assert lines[-1] == "exit 0"
    assert len(lines) == 8
    for first, rest in ((100, lines[1:4]), (101, lines[4:7])):
        possible = {f"line {first + i}" for i in range(10)}
        assert set(rest[:2]) <= possible
        assert rest[2] == (
            "... and 8 more, for which 64 bytes had no room: build with --option print_buffer=128"
        )


def test_a_format_that_c_lacks_is_refused() -> None:
    with pytest.raises(LaunchError, match=r"it writes an f32 as `\{\.\.\.:>10\}`, which C cannot"):
        build(kernels.unwritable, f32[:])
