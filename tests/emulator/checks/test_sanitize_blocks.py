"""Which launches are checked, and how reports reach the user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.options import OptionError
from tests.emulator.checks.seeded_kernels.seeded import DEVICE


@pytest.fixture(autouse=True)
def emulator() -> Any:
    with amdjit.use(DEVICE):
        yield


@amdjit.kernel
def past_the_end(x):
    x[amdjit.grid(1)] = 1


@amdjit.kernel
def two_lines(x, y):
    i = amdjit.grid(1)
    x[i] = 1
    y[i - 5] = 2


@amdjit.kernel(sanitize="memory")
def always_checked(x):
    x[amdjit.grid(1)] = 1


def zeros(n: int) -> np.ndarray[Any, Any]:
    return np.zeros(n, np.float32)


def test_all_errors_of_a_launch_come_in_one_exception_at_its_end() -> None:
    with amdjit.sanitize("memory") as found, pytest.raises(amdjit.SanitizerError) as caught:
        two_lines[1, 64](zeros(40), zeros(64))
    error = caught.value
    assert [report.array for report in error.reports] == ["x", "y"] or [
        r.array for r in error.reports
    ] == ["y", "x"]
    assert error.reports == tuple(found.reports)
    assert isinstance(error, amdjit.KernelFault)
    assert error.kind == "out-of-bounds"
    assert (error.source_file, error.source_line) == (error.reports[0].file, error.reports[0].line)
    assert "the sanitizer has 2 reports" in str(error)


def test_a_report_reads_on_one_screen() -> None:
    with amdjit.sanitize("memory", raises=False) as found:
        past_the_end[1, 64](zeros(40))
    (report,) = found.reports
    line = past_the_end.function.__code__.co_firstlineno + 2
    lines = report.render().splitlines()
    assert (
        lines[0]
        == "error[memory/out-of-bounds]: past_the_end: store of 4 bytes at x[40], outside of x of "
        "shape (40,)"
    )
    assert lines[1] == f"{' ' * len(str(line))}--> {__file__}:{line}"
    assert lines[3] == f"{line} |     x[amdjit.grid(1)] = 1"
    assert lines[4].endswith("|     ^^^^^^^^^^^^^^^^^^^^^")
    assert lines[5] == "  = block (0, 0, 0), thread (40, 0, 0) (lane 8); 24 times"
    assert len(lines) < 12
    assert (report.array, report.index, report.shape, report.nbytes) == ("x", (40,), (40,), 4)


def test_the_right_elements_are_stored_nonetheless() -> None:
    x = amdjit.zeros(64)
    with amdjit.sanitize("memory", raises=False):
        past_the_end[2, 64](x)
    assert (x.copy_to_host() == 1).all()


def test_nothing_is_checked_outside_of_the_block() -> None:
    with amdjit.sanitize("memory"):
        pass
    with pytest.raises(amdjit.KernelFault) as caught:
        past_the_end[1, 64](zeros(40))
    assert not isinstance(caught.value, amdjit.SanitizerError)


def test_blocks_nest_and_each_collects() -> None:
    with amdjit.sanitize("race", raises=False) as outer:
        with amdjit.sanitize("memory") as inner:
            past_the_end[1, 64](zeros(40))
            with amdjit.sanitize("sync", limit=1) as innermost:
                two_lines[1, 64](zeros(40), zeros(64))
        assert len(innermost.reports) == 1
        assert len(inner.reports) == 2
        past_the_end[1, 64](zeros(64))
    assert outer.reports == inner.reports
    assert outer.reports[1:] == innermost.reports


def test_a_decorator_option_checks_each_launch() -> None:
    with pytest.raises(amdjit.SanitizerError):
        always_checked[1, 64](zeros(40))
    always_checked[1, 32](zeros(40))


def test_a_block_is_of_its_thread() -> None:
    kinds = []

    def other() -> None:
        with amdjit.use(DEVICE):
            try:
                past_the_end[1, 64](zeros(40))
            except amdjit.KernelFault as fault:
                kinds.append(type(fault))

    with amdjit.sanitize("memory") as found:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert kinds == [amdjit.KernelFault]
    assert found.reports == []


def test_names_that_are_no_checks_are_refused() -> None:
    with pytest.raises(
        OptionError, match="there is no check 'memroy'; there are memory, race, init, sync"
    ):
        amdjit.sanitize("memroy")
    with pytest.raises(OptionError, match="no check 'x'"):
        amdjit.kernel(sanitize=("race", "x"))(past_the_end.function)
    with pytest.raises(OptionError, match="limit"):
        amdjit.sanitize("memory", limit=0)


def test_reports_are_json_on_request(tmp_path: Path) -> None:
    file = tmp_path / "reports.json"
    with amdjit.sanitize("memory", raises=False, json=file) as found:
        two_lines[1, 64](zeros(40), zeros(64))
    objects = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(o["kind"], o["line"], o["array"], tuple(o["thread"])) for o in objects] == [
        (r.kind, r.line, r.array, r.thread) for r in found.reports
    ]


def test_a_file_that_cannot_be_written_does_not_cost_the_reports(tmp_path: Path) -> None:
    with (
        pytest.warns(amdjit.SanitizerWarning, match="do not go to"),
        pytest.raises(amdjit.SanitizerError) as caught,
        amdjit.sanitize("memory", json=tmp_path),
    ):
        two_lines[1, 64](zeros(40), zeros(64))
    assert caught.value.reports


@amdjit.kernel
def four_stores(x, y):
    i = amdjit.threadIdx.x
    x[i + 1] = 1
    y[i + 2] = 2
    x[i + 3] = 3
    y[i + 4] = 4


def test_accesses_of_one_clause_have_their_own_lines() -> None:
    """LLVM gives all accesses of a clause the line of the first."""
    four_stores[1, 32](zeros(40), zeros(40))
    with amdjit.sanitize("memory", raises=False) as found:
        four_stores[1, 32](zeros(32), zeros(32))
    first = four_stores.function.__code__.co_firstlineno
    assert [(r.line, r.array, r.count) for r in found.reports] == [
        (first + 3 + n, array, n + 1) for n, array in enumerate("xyxy")
    ]
    assert "s_clause" in four_stores.compile(amdjit.f32[:], amdjit.f32[:], target="gfx1201").asm


_PROGRAM = """
import numpy, amdjit
@amdjit.kernel
def past_the_end(x):
    x[amdjit.grid(1)] = 1
past_the_end[1, 64](numpy.zeros(40, numpy.float32))
"""


def test_environment_variables_check_a_whole_program(tmp_path: Path) -> None:
    program, file = tmp_path / "program.py", tmp_path / "reports.json"
    program.write_text(_PROGRAM)
    path = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "AMDJIT_DEVICE": DEVICE,
    }
    variables = {"AMDJIT_SANITIZE": "memory, race", "AMDJIT_SANITIZE_JSON": str(file)}
    done = subprocess.run(
        [sys.executable, program], env={**path, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "SanitizerError: past_the_end: the sanitizer has 1 report\n" in done.stderr
    assert json.loads(file.read_text())["line"] == 5
    wrong = subprocess.run(
        [sys.executable, program],
        env={**path, "AMDJIT_SANITIZE": "speed"},
        capture_output=True,
        text=True,
    )
    assert "AMDJIT_SANITIZE: there is no check 'speed'" in wrong.stderr


def test_a_fault_without_checks_names_the_element_of_a_negative_index() -> None:
    with pytest.raises(amdjit.KernelFault) as caught:
        two_lines[1, 32](zeros(64), zeros(64))
    fault = caught.value
    assert (fault.array, fault.index, fault.shape) == ("y", (-5,), (64,))
    assert fault.nearest_allocation is not None
    assert fault.nearest_allocation.distance == -20
    assert "it is y[-5] of shape (64,)" in str(fault)
