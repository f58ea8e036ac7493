"""Files of results: shared, merged, damaged, written by two processes, and resumed after a kill."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amdjit
from amdjit.command_line import main
from amdjit.tuning.candidates import Candidate, Facts, State
from amdjit.tuning.configurations import Configuration
from amdjit.tuning.keys import TuningKey, source_digest
from amdjit.tuning.records import Best, Records, merge, read_file
from tests.tuning import tuned_kernels

HERE = Path(__file__).parent
N = 256
KEY = TuningKey("gfx1201", "double", "abc", "", "x: float32[::1]", "n=256")


def tuned(path: Path, **chosen: Any) -> Any:
    given: dict[str, Any] = {"space": {"per": [1, 2, 4]}, "key": ["n"], "cache": path}
    return amdjit.autotune(**given | chosen)(tuned_kernels.double)


def tune(kernel: Any, **chosen: Any) -> Any:
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    with amdjit.use("emulator:gfx1201"), ThreadPoolExecutor(2) as threads:
        return kernel.tune(tuned_kernels.grid, executor=threads, **chosen)(x, out, N)


class Counting:
    """An executor that counts what is submitted, and runs it at once."""

    def __init__(self) -> None:
        self.count = 0
        self._threads = ThreadPoolExecutor(1)

    def submit(self, *task: Any) -> Any:
        self.count += 1
        return self._threads.submit(*task)


def counted(kernel: Any, **chosen: Any) -> int:
    """Return how many tasks a search submits."""
    counting = Counting()
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    with amdjit.use("emulator:gfx1201"):
        kernel.tune(tuned_kernels.grid, executor=counting, **chosen)(x, out, N)
    return counting.count


def test_a_complete_file_runs_nothing_and_a_larger_space_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first = tune(tuned(path))
    kernel = tuned(path)  # as another process has it
    assert counted(kernel) == 0
    assert kernel.best_config == first.best_config
    # One more than the two new ones: the results of the first are needed again to compare with.
    assert counted(tuned(path, space={"per": [1, 2, 4, 8, 16]})) == 3
    assert counted(tuned(path, space={"per": [1, 2, 4, 8, 16]})) == 0
    assert counted(tuned(path), fresh=True) == 3
    # Other rules need other evidence.
    assert counted(tuned(path, sanitize=("memory",))) == 3


def test_a_launch_finds_the_best_of_the_file_without_a_search(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    best = tune(tuned(path, space={"per": [4, 1]})).best_config
    kernel = tuned(path, space={"per": [4, 1]}, untuned="refuse")
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    with amdjit.use("emulator:gfx1201"):
        kernel[tuned_kernels.grid](x, out, N)
    assert kernel.best_config == best
    assert (out == 2 * x).all()


SEARCH = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
import amdjit, tuned_kernels
kernel = amdjit.autotune(
    space=[{{"per": per, "way": way}} for per, way in {space!r}], workers=1, time_limit=60,
    cache={cache!r},
)(tuned_kernels.perilous)
x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
with amdjit.use("emulator:gfx1201"):
    print(len(kernel.tune(tuned_kernels.grid)(x, out, 256).candidates))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not of Windows")
def test_a_search_goes_on_where_a_killed_one_ended_and_its_workers_end_with_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.jsonl"
    # The third candidate hangs, so that the search is still at it when it is killed.
    space = [(1, "none"), (3, "none"), (2, "hang"), (4, "none")]
    text = SEARCH.format(here=str(HERE), space=space, cache=str(path))
    with subprocess.Popen([sys.executable, "-c", text]) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and _count(path) < 2:
            time.sleep(0.05)
        workers = _children(process.pid)
        process.send_signal(signal.SIGKILL)
    assert _count(path) == 2
    deadline = time.monotonic() + 10
    while any(map(_is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(_is_alive, workers))
    kernel = amdjit.autotune(
        space=[{"per": 1, "way": "none"}, {"per": 3, "way": "none"}, {"per": 4, "way": "none"}],
        cache=path,
    )(tuned_kernels.perilous)
    # The fourth one, and the first once more for its results; the second one is not done again.
    counting = Counting()
    x, out = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    with amdjit.use("emulator:gfx1201"):
        found = kernel.tune(tuned_kernels.grid, executor=counting)(x, out, N)
    assert counting.count == 2
    assert Counter(each.state for each in found.candidates) == {State.FINE: 3}


def _count(path: Path) -> int:
    return path.read_text().count('"kind": "candidate"') if path.exists() else 0


def _children(parent: int) -> list[int]:
    if not Path("/proc/self/stat").exists():
        return []
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(folder.name))
    return found


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    spaces = ([(1, "none"), (3, "none")], [(1, "none"), (4, "none")])
    texts = [SEARCH.format(here=str(HERE), space=each, cache=str(path)) for each in spaces]
    processes = [subprocess.Popen([sys.executable, "-c", text]) for text in texts]
    assert [process.wait(120) for process in processes] == [0, 0]
    (known,) = read_file(path).values()
    assert {record["configuration"]["per"] for record in known.candidates.values()} == {1, 3, 4}
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_threads_that_append_leave_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    def write(number: int) -> None:
        records = Records(path)
        records.begin(KEY)
        for each in range(20):
            found = Candidate(Configuration({"t": number, "i": each}), State.FINE, "x" * 200)
            records.add(KEY, "rules", found)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_file(path)[KEY.digest].candidates) == 80


def _written(path: Path, seconds: float = 1e-3, per: int = 1, complete: bool = True) -> Records:
    records = Records.open(path)
    records.begin(KEY, space=1)
    found = Candidate(Configuration({"per": per}), State.FINE, seconds=seconds, by="model")
    records.add(KEY, "rules", found)
    records.choose(KEY, Best(f"per={per}", "rules", "model", seconds, complete, 1))
    return records


def test_a_torn_and_a_damaged_line_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "results.jsonl"
    _written(path)
    whole = path.read_text()
    path.write_text(whole + whole.splitlines()[2][:40])  # a process was killed while it wrote
    assert list(read_file(path)[KEY.digest].candidates) == ["per=1"]
    assert "line 5 is damaged" in caplog.text
    _written(path, per=2)
    assert list(read_file(path)[KEY.digest].candidates) == ["per=1", "per=2"]
    path.write_text(
        path.read_text() + '{"kind": "candidate", "key": "x", "state": 3}\n{"kind": 4}\n[]\n\xff\n'
    )
    assert list(read_file(path)[KEY.digest].candidates) == ["per=1", "per=2"]


@pytest.mark.parametrize(
    "contents",
    [
        b'{"a": 1}\n',
        b'{"kind": "file", "schema": "amdjit.tuning/2"}\n',
        b"\x89PNG\r\n\x1a\n",
        b"[1, 2]",
        b'{"kind": "file"}',
    ],
)
def test_another_file_is_refused_and_stays_as_it_is(
    tmp_path: Path, contents: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "photo.png"
    path.write_bytes(contents)
    with pytest.raises(amdjit.TuningError, match="is not a file of tuning results"):
        tune(tuned(path))
    assert path.read_bytes() == contents
    assert main(["tune", "show", str(path)]) == 1
    assert "is not a file of tuning results" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(amdjit.TuningError, match="cannot be read"):
        read_file(tmp_path / "missing.jsonl")
    (tmp_path / "file").write_text("")
    with pytest.raises(amdjit.TuningError, match="cannot be written"):
        tune(tuned(tmp_path / "file" / "results.jsonl"))


def test_of_two_files_the_complete_and_quicker_result_counts(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl", "all.jsonl")]
    _written(paths[0], 3e-3, 1)
    _written(paths[1], 2e-3, 2)
    _written(paths[2], 1e-3, 4, complete=False)
    merge(paths[:3], paths[3])
    known = read_file(paths[3])[KEY.digest]
    assert set(known.candidates) == {"per=1", "per=2", "per=4"}
    assert known.best is not None
    assert known.best.text == "per=2"
    # One file written after the other is a file, too.
    (tmp_path / "joined").write_bytes(paths[0].read_bytes() + paths[1].read_bytes())
    assert set(read_file(tmp_path / "joined")[KEY.digest].candidates) == {"per=1", "per=2"}


reals = st.floats(0, 1e6, allow_nan=False)
facts = st.builds(
    Facts,
    **{
        field.name: st.text(max_size=5) if field.name == "limiter" else st.integers(0, 10**6)
        for field in dataclasses.fields(Facts)
    },
)
candidates = st.builds(
    Candidate,
    configuration=st.dictionaries(
        st.sampled_from("abc"),
        st.one_of(st.integers(), st.booleans(), st.text(), st.none(), reals),
        min_size=1,
    ).map(Configuration),
    state=st.sampled_from(State),
    reason=st.text(),
    facts=st.one_of(st.none(), facts),
    score=st.one_of(st.none(), reals),
    cycles=st.one_of(st.none(), st.integers(0)),
    seconds=st.one_of(st.none(), reals),
    samples=st.lists(reals, max_size=4).map(tuple),
    by=st.text(max_size=5),
)


@settings(max_examples=25)
@given(candidates)
def test_candidates_come_back_from_json_as_they_were(candidate: Candidate) -> None:
    record = json.loads(json.dumps(candidate.record(), ensure_ascii=False))
    assert Candidate.read(record) == candidate


def test_the_digest_follows_the_source_and_what_it_reads_not_the_settings() -> None:
    def made(factor: int, helper: Any) -> str:
        def kernel(x, per: amdjit.Const):
            x[0] = helper(x[0]) * factor

        return source_digest(amdjit.kernel(kernel))

    def one(x):
        return x

    def two(x):
        return x + 1

    assert made(2, one) == made(2, one)
    assert len({made(2, one), made(3, one), made(2, two)}) == 3
    kernels = [tuned(Path("a"), workers=count) for count in (1, 2)]
    assert source_digest(kernels[0].kernel) == source_digest(kernels[1].kernel)


def test_show_says_what_is_best_and_why_others_lost_without_the_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.jsonl"
    kernel = amdjit.autotune(space={"per": [1, 4, 2]}, key=["n"], cache=path)(
        tuned_kernels.mistaken
    )
    best = tune(kernel).best_config
    text = path.read_text().replace("mistaken", "gone")
    path.write_text(text)
    assert main(["tune", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "gone on gfx1201, n=256" in shown
    assert f"best: {best}, " in shown
    assert "2 fine, 1 wrong" in shown
    assert "out[1] is 3.0, not 2.0" in shown
    assert main(["tune", "show", str(path), "--json"]) == 0
    (key,) = json.loads(capsys.readouterr().out)["keys"]
    assert key["best"]["text"] == str(best)
    assert len(key["candidates"]) == 3
    assert main(["tune", "show", str(path), "--kernel", "other"]) == 1
    assert main(["tune", "merge", str(path), str(path), "-o", str(tmp_path / "m.jsonl")]) == 0
    assert len(read_file(tmp_path / "m.jsonl")) == 1
