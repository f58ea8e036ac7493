"""`amdjit.debug`: what is looked at, breakpoints, mistakes, and how launches get there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import amdjit
from amdjit import blockIdx, f32, i32, shared, syncthreads, threadIdx
from amdjit import numba_cuda as cuda
from amdjit.debugging.debugger import Debugger
from amdjit.diagnostics import LaunchError
from amdjit.intrinsics import cooperative_groups
from amdjit.runtime.recording import RecordedLaunch
from tests.debugging.test_seeded_bugs import line_of, said


@amdjit.kernel
def scaled(x, n, factor, out):
    i = amdjit.grid(1)
    if i < n:
        tile = shared.array(64, f32)
        tile[threadIdx.x] = x[i] * factor
        syncthreads()
        total = f32(0)
        for k in range(3):
            total += tile[(threadIdx.x + k) % 64]
        out[i] = total


X = np.arange(128, dtype=np.float32)
OUT = np.zeros(128, np.float32)


def opened(**options: object) -> Debugger:
    return amdjit.debug(scaled[2, 64], X, 128, np.float32(2), OUT, **options)  # type: ignore[arg-type]


def test_the_programs_arrays_stay_as_they_are() -> None:
    with opened() as debugger:
        found = debugger.finish()["out"]
    assert not OUT.any()
    out = OUT.copy()
    scaled[2, 64](X, 128, np.float32(2), out)
    np.testing.assert_array_equal(found, out)


@pytest.mark.parametrize("level", [0, 3, None])
def test_variables_registers_and_memory_at_a_line(level: int | None) -> None:
    line = line_of(scaled.function, "total += tile")
    with opened(opt_level=level) as debugger:
        debugger.break_at(line)
        assert debugger.resume() is not None
        assert debugger.line == (scaled.function.__code__.co_filename, line)
        np.testing.assert_array_equal(debugger.arrays["x"], X)
        assert debugger.registers["exec"] == 0xFFFFFFFF
        assert debugger.registers["v0"].shape == (32,)
        assert debugger.evaluate("n * factor + x[3]") == 259
        if level == 0:
            assert {"i", "total", "k"} <= set(debugger.variables)
            np.testing.assert_array_equal(debugger.variables["i"].lanes, np.arange(32))
            np.testing.assert_array_equal(debugger.shared["tile"], X[:64] * 2)
            np.testing.assert_array_equal(debugger.lds.view(np.float32)[:64], X[:64] * 2)
        with pytest.raises(KeyError, match="no register v256"):
            debugger.registers["v256"]
        now, lane = debugger.time, debugger.lane
        written = {f"v{n}": debugger.last_change(f"v{n}") for n in range(4)}
        assert any(written.values())
        for name, change in written.items():
            debugger.go_to(now)
            value = debugger.registers[name][lane]
            debugger.go_to(0 if change is None else change.time)
            while debugger.step(instructions=True) and debugger.time <= now:
                assert debugger.registers[name][lane] == value


def test_a_condition_stops_in_the_lane_for_which_it_holds() -> None:
    line = line_of(scaled.function, "total += tile")
    with opened() as debugger:
        debugger.break_at(line, when="i == 100 and k == 2")
        assert debugger.resume() is not None
        assert (debugger.block, debugger.wave, debugger.lane) == ((1, 0, 0), 1, 4)
        assert debugger.thread == (36, 0, 0)
        assert debugger.variables["k"].of(debugger.lane) == 2
        assert debugger.resume() is None
        assert debugger.has_ended
        assert debugger.reverse() is not None
        assert debugger.evaluate("i, k") == (100, 2)
        assert debugger.reverse() is None
        assert debugger.time == 0


def test_a_wave_can_be_chosen_before_it_has_begun() -> None:
    with opened() as debugger:
        debugger.select(block=1, thread=40)
        assert debugger.state is None
        with pytest.raises(LaunchError, match=r"block \(1, 0, 0\) is not under way at time 0"):
            _ = debugger.lds
        assert debugger.step()
        assert debugger.block == (1, 0, 0)
        assert debugger.wave == 1
        assert debugger.run_to(line_of(scaled.function, "out[i] = total"))
        assert debugger.evaluate("i") == 104


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ({"block": 2}, r"no block \(2, 0, 0\) in \(2, 1, 1\)"),
        ({"thread": (0, 1)}, r"no thread \(0, 1, 0\) in \(64, 1, 1\)"),
        ({"wave": 2}, "no wave 2: there are 2"),
        ({"lane": -1}, "no lane -1: there are 32"),
    ],
)
def test_what_the_launch_does_not_have_is_refused(chosen: dict[str, object], text: str) -> None:
    with opened() as debugger, pytest.raises(LaunchError, match=text):
        debugger.select(**chosen)  # type: ignore[arg-type]


def test_mistakes_are_named() -> None:
    with opened() as debugger:
        with pytest.raises(LaunchError, match="line 1 has no code; these have: "):
            debugger.break_at(1)
        with pytest.raises(SyntaxError):
            debugger.break_at(line_of(scaled.function, "out[i]"), when="i ==")
        with pytest.raises(LaunchError, match="no array y"):
            debugger.who_wrote("y", 0)
        with pytest.raises(LaunchError, match="x has 1 axes, not 2"):
            debugger.who_wrote("x", 0, 0)
        with pytest.raises(LaunchError, match="outside"):
            debugger.who_wrote("x", 128)
        with pytest.raises(LaunchError, match="nothing says where nothing is here"):
            debugger.last_change("nothing")
        with pytest.raises(LaunchError, match="no breakpoint 7"):
            debugger.clear(7)
    with pytest.raises(LaunchError, match="schedule='odd'"):
        opened(schedule="odd")


@amdjit.kernel
def on_one_line(x, out):
    i = threadIdx.x
    total = f32(0)
    for k in range(i): total += x[k]  # noqa: E701  # fmt: skip
    out[i] = total


@pytest.mark.parametrize("level", [0, 1])
def test_a_loop_on_one_line_stops_in_each_round(level: int) -> None:
    line = line_of(on_one_line.function, "for k in range(i)")
    with amdjit.debug(
        on_one_line[1, 32], X[:32].copy(), OUT[:32].copy(), opt_level=level
    ) as debugger:
        debugger.break_at(line)
        rounds = 0
        while debugger.resume() is not None:
            rounds += 1
        assert rounds > 10


@amdjit.kernel
def waits_for_the_other(flag, out):
    if blockIdx.x == 0:
        while amdjit.atomic.load(flag, 0) == 0:
            pass
        out[0] = i32(7)
    else:
        amdjit.atomic.store(flag, 0, i32(1))


@pytest.mark.parametrize("schedule", ["in-order", "backwards", 5])
def test_workgroups_that_wait_for_each_other_come_to_their_ends(schedule: str | int) -> None:
    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    with amdjit.debug(waits_for_the_other[2, 32], flag, out, schedule=schedule) as debugger:
        assert debugger.finish()["out"][0] == 7
        end = debugger.time
        debugger.go_to(end // 2)
        assert debugger.finish()["out"][0] == 7
        assert debugger.time == end


@amdjit.kernel
def meets_all(parts, out):
    group = cooperative_groups.this_grid()
    i = amdjit.grid(1)
    parts[i] = i32(1)
    group.sync()
    out[i] = parts[(i + 32) % out.shape[0]] + 1


@pytest.mark.parametrize("schedule", ["in-order", "backwards", 3])
def test_workgroups_of_a_cooperative_launch_are_all_under_way(schedule: str | int) -> None:
    out = np.zeros(96, np.int32)
    launch = meets_all.launch(3, 32, cooperative=True)
    with amdjit.debug(launch, out.copy(), out, schedule=schedule) as debugger:
        assert debugger.run_to(line_of(meets_all.function, "parts[i] ="))
        assert debugger.blocks == ((0, 0, 0), (1, 0, 0), (2, 0, 0))
        assert debugger.run_to(line_of(meets_all.function, "out[i] ="))
        assert debugger.arrays["parts"].sum() == 96
        assert debugger.finish()["out"].tolist() == [2] * 96


def test_ctrl_c_leaves_a_moment_to_go_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as debugger:
        debugger.go_to(1 << 60)
        end, expected = debugger.time, debugger.arrays["out"]
        debugger.go_to(0)
        turns = iter(range(3))

        def interrupted(*given: object) -> object:
            if next(turns, None) is None:
                raise KeyboardInterrupt
            return act(*given)

        act = debugger._stepped._act
        monkeypatch.setattr(debugger._stepped, "_act", interrupted)
        with pytest.raises(KeyboardInterrupt):
            debugger.resume()
        monkeypatch.setattr(debugger._stepped, "_act", act)
        debugger.go_to(1 << 60)
        assert debugger.time == end
        np.testing.assert_array_equal(debugger.arrays["out"], expected)


@amdjit.kernel
def asserts(x):
    i = threadIdx.x
    assert x[i] < 30


def test_a_failed_assert_is_told() -> None:
    with amdjit.debug(asserts[1, 64], X[:64].copy()) as debugger:
        debugger.go_to(1 << 60)
        assert debugger.fault is not None
        assert "x[i] < 30" in str(debugger.fault)


def test_recorded_launches_are_debugged(tmp_path: Path) -> None:
    with amdjit.record(tmp_path) as record:
        scaled[2, 64](X, 128, np.float32(2), OUT.copy())
    (file,) = record.files
    with Debugger(RecordedLaunch.read(file)) as debugger:
        debugger.break_at(line_of(scaled.function, "out[i] = total"))
        assert debugger.resume() is not None
        assert "out[i] = total" in debugger.where()
        assert debugger.finish()["out"][5] == 36


PROGRAM = """\
import numpy as np
import amdjit

@amdjit.kernel
def double(x):
    i = amdjit.grid(1)
    y = x[i] * 2
    x[i] = y

x = np.arange(32, dtype=np.int32)
double[1, 32](x)
double[1, 32](x)
print("program:", x[3])
"""


def _command(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "amdjit", "debug", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    return done.stdout + done.stderr


def test_the_command_debugs_the_launch_that_is_wanted(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    text = _command(
        f"{program}:double", "--launch", "2", "-c", "b 8", "-c", "c", "-c", "thread 3",
        "-c", "p x[3], y", "-c", "q",
    )  # fmt: skip
    assert "(np.int32(6), np.int32(12))" in text
    assert "program: 12" in text
    assert "there is no launch 3" in _command(f"{program}:double", "--launch", "3", "-c", "q")
    assert "cannot be read: No such file" in _command(tmp_path / "nothing.amdjit", "-c", "q")
    assert "nothing.py is not a Python file" in _command(tmp_path / "nothing.py")


def test_the_prompt_answers_what_pdb_would(tmp_path: Path) -> None:
    line = line_of(scaled.function, "total += tile")
    with opened() as debugger:
        text = said(
            debugger, "help", "s", "si 2", "bsi", "bs", f"u {line}", "w", "l", "vars", "lanes k",
            "lanes exec", "regs v0 s4", "regs", "arrays", "arrays tile", "lds f4", "waves",
            "wave 1", "block 0", "lane 3", "thread 5", "b", f"b {line} if k == 1", "b", "c", "rc",
            "cl 1", "last total", "who tile[5]", "1 + 1", "nonsense", "who out[0]",
            f"page {tmp_path}/page.html", "goto 3", "u 1",
        )  # fmt: skip
    assert "continue: go on to the next breakpoint" in text
    assert f"breakpoint 1 at test_debugger.py:{line} if k == 1" in text
    assert "total: f32 = " in text
    assert "n = 128    (argument)" in text
    assert "tile: float32, shape (64,), in LDS" in text
    assert "*** NameError: name 'nonsense' is not defined" in text
    assert "nothing has written it so far" in text
    assert "*** LaunchError: line 1 has no code" in text
    assert "\n2\n" in text
    assert text.count("***") == 2


def test_a_command_without_its_argument_prints_its_help() -> None:
    with opened() as debugger:
        text = said(debugger, "u", "cl x", "goto", "thread", "block 1 2 3 4", "who", "page", "b x")
    assert "***" not in text
    assert "until LINE: go on until" in text
    assert "thread X [Y [Z]]: look at" in text
    assert "page FILE.html: write" in text


@amdjit.device_function(inline=False)
def called(v):
    big = v + 1000
    return big * 2


@amdjit.device_function
def inlined(v, k):
    w = v * k
    return w + 1


@amdjit.kernel
def calls(x, n, out):
    i = amdjit.grid(1)
    z = 5 + i
    k = 100 + i
    n = n * 2
    lane = i + 70
    flag = x[i] > 3
    out[i] = called(x[i]) + z + inlined(x[i], 3) + k + n + lane
    if flag:
        x = x[16:]
        out[i] += x[0]


def calling() -> Debugger:
    return amdjit.debug(calls[1, 32], X[:48].copy(), 21, OUT[:32].copy())


def test_variables_of_a_called_function_are_those_of_its_frame() -> None:
    with calling() as debugger:
        debugger.break_at(line_of(called.function, "return big * 2"), when="big > 1003")
        assert debugger.resume() is not None
        assert debugger.lane == 4
        assert debugger.evaluate("v, big") == (4, 1004)
        change = debugger.last_change("big")
        assert change is not None
        assert change.line is not None
        assert change.line[1] == line_of(called.function, "big = v + 1000")
        with pytest.raises(NameError):
            debugger.evaluate("out")  # it is the kernel's


def test_names_mean_what_they_mean_at_the_line() -> None:
    with calling() as debugger:
        debugger.break_at(line_of(inlined.function, "w = v * k"))
        debugger.resume()
        with pytest.raises(NameError, match="'k'"):
            debugger.evaluate("k")  # the kernel's is another one, and this one is constant
        debugger.run_to(line_of(calls.function, "out[i] += x[0]"))
        debugger.select(lane=9)
        assert debugger.evaluate("lane, flag, k, sum(z for _ in range(2))") == (79, True, 109, 28)
        for name in ("n", "x[0]"):
            with pytest.raises(LaunchError, match=r"is assigned in the kernel|cannot be read here"):
                debugger.evaluate(name)


@amdjit.device_function
def through_lds(v):
    t = shared.array(32, f32)
    t[threadIdx.x] = v
    syncthreads()
    return t[31 - threadIdx.x]


@amdjit.kernel
def two_arrays(x, out):
    i = threadIdx.x
    a = through_lds(x[i])
    b = through_lds(x[i] + 100)
    out[i] = a + b


def test_arrays_of_one_name_are_told_apart() -> None:
    with amdjit.debug(two_arrays[1, 32], X[:32].copy(), OUT[:32].copy()) as debugger:
        debugger.run_to(line_of(two_arrays.function, "out[i] = a + b"))
        np.testing.assert_array_equal(debugger.shared["t"], X[:32])
        np.testing.assert_array_equal(debugger.shared["t (2)"], X[:32] + 100)
        with pytest.raises(LaunchError, match="several arrays t"):
            debugger.who_wrote("t", 3)
        debugger.go_to(0)
        debugger.break_at(line_of(through_lds.function, "return t[31"))
        for more in (0, 100):  # each call has an array of its own
            assert debugger.resume() is not None
            assert debugger.evaluate("t[4]") == 4 + more
            change = debugger.who_wrote("t", 4)
            assert change is not None
            assert change.lanes == (4,)


@cuda.jit
def called_otherwise(x, out):
    s = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    s[i] = x[i] + 1
    cuda.syncthreads()
    out[i] = s[31 - i]


def test_an_array_in_lds_is_known_by_its_variable() -> None:
    launch = called_otherwise[1, 32]
    with amdjit.debug(launch, X[:32].copy(), OUT[:32].copy()) as debugger:
        debugger.run_to(line_of(called_otherwise.function, "out[i] ="))
        assert debugger.evaluate("s[7]") == 8
        assert debugger.who_wrote("s", 7) is not None


@amdjit.kernel
def tiled(x, out):
    i = threadIdx.x
    tile = shared.array(32, f32)
    tile[i] = x[i] * 3
    syncthreads()
    out[i] = tile[31 - i]


def test_a_name_of_an_array_in_lds_is_the_array() -> None:
    with amdjit.debug(tiled[1, 32], X[:32].copy(), OUT[:32].copy()) as debugger:
        debugger.break_at(line_of(tiled.function, "out[i] ="), when="tile[i] == 15")
        assert debugger.resume() is not None
        assert debugger.evaluate("i, tile[i], tile.sum()") == (5, 15, 3 * X[:32].sum())


@amdjit.kernel
def rounds(x, out):
    total = f32(0)
    for k in range(4):
        total += x[k]
    out[0] = total


def test_a_loops_line_stops_once_in_each_round() -> None:
    line = line_of(rounds.function, "for k in range(4)")
    with amdjit.debug(rounds[1, 1], X, OUT[:1].copy()) as debugger:
        debugger.break_at(line)
        seen = []
        while debugger.resume() is not None:
            seen.append(debugger.time)
        assert 4 <= len(seen) <= 6


def test_scalar_registers_change_for_all_lanes() -> None:
    with opened(opt_level=None) as debugger:
        debugger.break_at(line_of(scaled.function, "out[i] = total"))
        debugger.resume()
        found = debugger.last_change("s4"), debugger.last_change("s5")
        debugger.select(lane=31)
        assert (debugger.last_change("s4"), debugger.last_change("s5")) == found
        with pytest.raises(KeyError, match="no register v9999"):
            debugger.last_change("v9999")


def test_mistakes_of_callers_are_named() -> None:
    with pytest.raises(LaunchError, match="takes a launch"):
        amdjit.debug(scaled, X)  # type: ignore[arg-type]
    debugger = opened()
    with pytest.raises(LaunchError, match="give 1 or more"):
        debugger.step(-1)
    with pytest.raises(LaunchError, match="give a number or up to three"):
        debugger.select(thread="a")  # type: ignore[arg-type]
    with pytest.raises(LaunchError, match=r"no code is from a file other\.py; there are: test_"):
        debugger.break_at(3, file="other.py")
    debugger.select(block=1)
    assert "the workgroup has not begun" in debugger.where()
    debugger.close()
    debugger.close()
    with pytest.raises(LaunchError, match="closed"):
        debugger.step()
    with pytest.raises(LaunchError, match="schedule=True"):
        opened(schedule=True)


def test_orders_that_all_fault_do_not_differ() -> None:
    with amdjit.debug(scaled[2, 64], X[:3].copy(), 128, np.float32(2), OUT) as debugger:
        assert debugger.shake(2) == {}
