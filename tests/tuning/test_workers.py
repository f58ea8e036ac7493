"""Candidates that end, stop or fill their workers cost themselves and nothing else, on every kind
of executor."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
import amdjit.backend
from amdjit.options import OptionError
from amdjit.tuning.candidates import State
from amdjit.tuning.pool import WorkerPool
from amdjit.tuning.results import Tuning
from tests.tuning import tuned_kernels

N = 256
WAYS = ["none", "exit", "hang", "memory", "error"]


def search(tmp_path: Path, ways: list[str], **chosen: Any) -> Tuning:
    """Search over ways to go wrong at per=2, and over per=1, which goes well."""
    kernel = amdjit.autotune(
        space=[{"per": 1, "way": "none"}, *({"per": 2, "way": way} for way in ways)],
        cache=tmp_path / "results.jsonl",
        **chosen,
    )(tuned_kernels.perilous)
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    with amdjit.use("emulator:gfx1201"):
        return kernel.tune(tuned_kernels.grid)(x, out, N)  # type: ignore[no-any-return]


def outcomes(tuning: Tuning) -> dict[tuple[int, str], tuple[State, str]]:
    return {
        (each.configuration.per, each.configuration.way): (each.state, each.reason)
        for each in tuning.candidates
    }


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits of address space")
def test_a_worker_that_dies_hangs_or_fills_up_costs_its_candidate(tmp_path: Path) -> None:
    tuning = search(tmp_path, WAYS, workers=2, time_limit=8, memory_limit=2 << 30)
    found = outcomes(tuning)
    assert found[1, "none"][0] is found[2, "none"][0] is State.FINE
    assert found[2, "exit"] == (State.LOST, "its worker died: exit code 7")
    assert found[2, "hang"] == (State.LOST, "it took more than 8 s, so its worker was ended")
    assert found[2, "memory"] == (State.LOST, "out of memory")
    assert found[2, "error"][0] is State.REFUSED
    assert "ZeroDivisionError: one of the user's own" in found[2, "error"][1]
    # The next search tries what was lost again, once; it may have had another reason.
    again = search(tmp_path, WAYS, workers=2, time_limit=8)
    assert {each.configuration.way for each in again.candidates if each.tries == 2} == {
        "exit",
        "hang",
        "memory",
    }
    begin = time.monotonic()
    assert outcomes(search(tmp_path, WAYS, workers=2)) == outcomes(again)
    assert time.monotonic() - begin < 2


def test_of_a_pool_that_breaks_only_the_guilty_one_is_lost(tmp_path: Path) -> None:
    made = []

    def make() -> ProcessPoolExecutor:
        made.append(ProcessPoolExecutor(2))
        return made[-1]

    found = outcomes(search(tmp_path, ["none", "exit"], executor=make, workers=2))
    assert found[1, "none"][0] is found[2, "none"][0] is State.FINE
    assert found[2, "exit"][0] is State.LOST
    assert "its worker died" in found[2, "exit"][1]
    assert len(made) > 1


def test_an_executor_of_the_users_that_breaks_is_named_and_what_is_done_is_kept(
    tmp_path: Path,
) -> None:
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(amdjit.TuningError, match="give a function that makes an executor"),
    ):
        search(tmp_path, ["exit"], executor=executor)
    found = outcomes(search(tmp_path, [], executor=ThreadPoolExecutor(1)))
    assert found == {(1, "none"): (State.FINE, "")}


def test_a_task_of_a_foreign_executor_that_hangs_is_given_up(tmp_path: Path) -> None:
    """The threads here are daemons, so that the process can end."""
    executor = Daemons(2)
    found = outcomes(search(tmp_path, ["hang", "none"], executor=executor, time_limit=3))
    assert found[1, "none"][0] is found[2, "none"][0] is State.FINE
    assert found[2, "hang"][0] is State.LOST
    assert "no result after 3 s" in found[2, "hang"][1]


def test_workers_that_all_hang_end_the_search(tmp_path: Path) -> None:
    with pytest.raises(amdjit.TuningError, match="all 1 workers of the executor hang"):
        search(tmp_path, ["hang", "none"], executor=Daemons(1), time_limit=2)


class Daemons(Executor):
    """An executor of the protocol alone, as `mpi4py.futures` has it: `submit` and `shutdown`, and
    nothing about how many workers there are."""

    def __init__(self, count: int) -> None:
        self._max_workers = count
        self._slots = threading.Semaphore(count)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            with self._slots:
                if not future.set_running_or_notify_cancel():
                    return
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future


def test_what_is_no_executor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"give a concurrent\.futures\.Executor"):
        search(tmp_path, [], executor=3)


def test_processes_of_a_dask_cluster_compile_and_check(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        tuning = search(tmp_path, ["none", "error"], executor=executor, workers=2)
        found = outcomes(tuning)
    assert found[1, "none"][0] is found[2, "none"][0] is State.FINE
    assert found[2, "error"][0] is State.REFUSED
    workers = {each.worker for each in tuning.candidates}
    assert str(os.getpid()) not in {name.rpartition(":")[2] for name in workers}


@pytest.mark.exhaustive
def test_a_dask_worker_that_dies_costs_its_candidate(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = outcomes(
            search(tmp_path, ["exit", "none"], executor=client.get_executor(), workers=2)
        )
    assert found[1, "none"][0] is found[2, "none"][0] is State.FINE
    assert found[2, "exit"][0] is State.LOST
    assert "KilledWorker" in found[2, "exit"][1]


def _use_cache(folder: str) -> None:
    os.environ["AMDJIT_CACHE_DIR"] = folder


@pytest.mark.sample(1)
@pytest.mark.parametrize("shares_cache", [True, False])
def test_what_workers_compiled_is_not_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares_cache: bool
) -> None:
    mine = tmp_path / "mine"
    monkeypatch.setenv("AMDJIT_CACHE_DIR", str(mine))
    theirs = mine if shares_cache else tmp_path / "of another machine"
    spawn = multiprocessing.get_context("spawn")
    kernel = amdjit.autotune(space={"per": [1, 2]}, cache=tmp_path / "results.jsonl")(
        amdjit.kernel(tuned_kernels.double.function, block=(64, 1, 1))
    )
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)

    def refuse(*_: Any) -> None:
        raise AssertionError("LLVM is called again")

    with (
        amdjit.use("emulator:gfx1201"),
        ProcessPoolExecutor(1, spawn, _use_cache, (str(theirs),)) as executor,
    ):
        kernel.tune(tuned_kernels.grid, executor=executor)(x, out, N)
        monkeypatch.setattr(amdjit.backend, "optimise", refuse)
        kernel[tuned_kernels.grid](x, out, N)
        assert (out == 2 * x).all()
        with pytest.raises(AssertionError, match="LLVM is called again"):
            kernel[tuned_kernels.grid](x, out.astype(np.float64), N)


def test_a_pool_returns_results_and_errors_and_ends_its_processes() -> None:
    with WorkerPool(1) as pool:
        assert pool.submit(pow, 2, 10).result() == 1024
        with pytest.raises(ValueError, match="invalid literal"):
            pool.submit(int, "three").result()
        first = pool.submit(os.getpid).result()
        assert pool.submit(os.getpid).result() == first != os.getpid()
        with pytest.raises(amdjit.tuning.errors.WorkerLost, match="exit code 5"):
            pool.submit(os._exit, 5).result()
        assert pool.submit(os.getpid).result() != first
        print_to_stdout = pool.submit(print, "what a task prints is no answer")
        assert print_to_stdout.result() is None
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(pow, 2, 10)


MAIN = """
import numpy as np
import amdjit
from amdjit import Const

@amdjit.autotune(space={{"per": [1, 2]}}, workers=1, cache={cache!r}, where=lambda c: c.per > 0)
@amdjit.kernel(block=(64, 1, 1))
def double(x, out, n, per: Const):
    first = amdjit.grid(1) * per
    for k in range(per):
        out[first + k] = helper(x[first + k])

def helper(x):
    return x * 2

with amdjit.use("emulator:gfx1201"):
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    print(len(double.tune(lambda c: 1)(x, out, 64).candidates))
    print((out == 2 * x).all())
"""


def test_a_kernel_of_a_script_without_a_guard_is_tuned_in_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MAIN.format(cache=str(tmp_path / "r.jsonl")))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["2", "True"], done.stderr


CELLS = (
    """
import numpy as np
import amdjit
from amdjit import Const
FACTOR = 3

def helper(v):
    return v * FACTOR

@amdjit.autotune(
    space={{"per": [1, 2]}}, workers=1, cache={cache!r}, where=lambda c: c.per < FACTOR
)
@amdjit.kernel(block=64)
def triple(x, out, per: Const):
    first = amdjit.grid(1) * per
    for k in range(per):
        if first + k < x.shape[0]:
            out[first + k] = helper(x[first + k])
""",
    """
with amdjit.use("emulator:gfx1201"):
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    states = {{each.state.value for each in triple.tune(lambda c: 1)(x, out).candidates}}
    triple[lambda c: 1](x, out)
    print(states, (out == 3 * x).all())
""",
)


def test_a_kernel_of_a_notebook_is_tuned_in_processes(tmp_path: Path) -> None:
    cells = [cell.format(cache=str(tmp_path / "r.jsonl")) for cell in CELLS]
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"for cell in {cells!r}: shell.run_cell(cell)\n"
    )
    pytest.importorskip("IPython")
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[0] == "{'fine'} True", done.stdout + done.stderr
