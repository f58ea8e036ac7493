"""What kernels of HIP ask the host for while they run: printf, assert, malloc."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit.diagnostics.errors import KernelFault
from amdjit.emulator import EmulatorDevice, run
from amdjit.options import Environment
from amdjit.target import find_target
from tests.emulator.launch.hip_programs import (
    PROCESSORS,
    compile_program,
    device_libraries,
    needs_new_library,
)
from tests.emulator.launch.printf_programs import PrintfProgram
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools
PRINTF_KINDS = ["hostcall", pytest.param("buffered", marks=needs_new_library)]

LINES = """
KERNEL lines(int *o) {
  int i = BLOCK * 96 + THREAD;
  if (i % 32 < 2) o[i] = printf("block %d thread %d %s\\n", BLOCK, THREAD, i & 1 ? "odd" : "even");
}
"""


def expected_lines(wave_size: int = 32) -> str:
    return "".join(
        f"block {block} thread {thread} {'odd' if thread & 1 else 'even'}\n"
        for block in range(3)
        for thread in range(96)
        if thread % 32 < 2
    )


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", PRINTF_KINDS)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_printf_writes_in_the_order_of_workgroups(
    processor: str, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code = compile_program(LINES, processor, ("-O2", f"-mprintf-kind={kind}"))
    out = np.full(3 * 96, -1, np.int32)
    run(code, "lines", 3, 96, [out], threads=4)
    assert capfd.readouterr().out == expected_lines()
    printed = np.arange(3 * 96) % 32 < 2
    if kind == "hostcall":  # how many bytes each has written
        text = expected_lines().splitlines(keepends=True)
        np.testing.assert_array_equal(out[printed], [len(line) for line in text])
    assert (out[~printed] == -1).all()


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("library", device_libraries(), ids=lambda path: path.parts[1])
@pytest.mark.parametrize("abi", [400, 500, 600])
def test_every_library_and_version_prints(
    library: Path, abi: int, capsys: pytest.CaptureFixture[str]
) -> None:
    code = compile_program(LINES, "gfx1100", ("-O1",), library, abi)
    run(code, "lines", 3, 96, [np.zeros(3 * 96, np.int32)])
    assert capsys.readouterr().out == expected_lines()


# A library of 4,000 instructions takes a minute to translate fully: the check of memory and that of
# synchronisation run the full tier in every run.
SLOW = pytest.mark.exhaustive


@pytest.mark.parametrize("tier", ["quick", pytest.param("full", marks=SLOW)])
def test_both_tiers_print_the_same(tier: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = find_target("gfx1201")
    assert target is not None
    device = EmulatorDevice(target, 2, 60.0, Environment(cache_dir=None, emulator_tier=tier))
    run(compile_program(LINES), "lines", 3, 96, [np.zeros(3 * 96, np.int32)], device=device)
    assert capsys.readouterr().out == expected_lines()


def test_loaded_modules_print(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = amdjit.load(compile_program(LINES)).kernels["lines"]
    with amdjit.use("emulator:gfx1201"):
        out = amdjit.to_device(np.zeros(3 * 96, np.int32))
        kernel[3, 96](out)
        kernel[3, 96](out)
    assert capsys.readouterr().out == 2 * expected_lines()


@pytest.mark.parametrize(
    "check",
    [
        "memory",
        pytest.param("init", marks=SLOW),
        pytest.param("race", marks=SLOW),
        pytest.param("sync", marks=SLOW),
    ],
)
def test_prints_are_clean_under_every_check(check: str, capsys: pytest.CaptureFixture[str]) -> None:
    with amdjit.sanitize(check):
        run(compile_program(LINES), "lines", 3, 96, [np.zeros(3 * 96, np.int32)])
    assert capsys.readouterr().out == expected_lines()


@pytest.mark.sample(1)
@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", PRINTF_KINDS)
@pytest.mark.parametrize(("seed", "processor"), [(1, "gfx1201"), (2, "gfx942"), (3, "gfx1100")])
def test_random_formats_are_as_libc_writes_them(
    seed: int, processor: str, kind: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    program = PrintfProgram(seed)
    code = compile_program(program.source, processor, ("-O1", f"-mprintf-kind={kind}"))
    run(code, "texts", 1, 24, [program.integers, program.doubles])
    assert capfdbinary.readouterr().out == program.expected()


def test_what_writing_raises_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def flush(self) -> None: ...

        def write(self, text: str) -> None:
            raise BrokenPipeError("nobody reads")

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError, match="nobody reads"):
        run(compile_program(LINES), "lines", 3, 96, [np.zeros(3 * 96, np.int32)])


CHECKED = """
KERNEL checked(int *o) {
  int i = BLOCK * 64 + THREAD;
  assert(o[i] < 77);
  o[i] = i;
}
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("processor", ["gfx1201", "gfx90a"])
def test_a_failed_assertion_is_pythons(processor: str, capfd: pytest.CaptureFixture[str]) -> None:
    out = np.zeros(256, np.int32)
    code = compile_program(CHECKED, processor)
    run(code, "checked", 4, 64, [out])
    np.testing.assert_array_equal(out, np.arange(256))
    out[:] = 0
    out[200] = 99
    with pytest.raises(AssertionError, match=r"assertion `o\[i\] < 77' failed") as caught:
        run(code, "checked", 4, 64, [out])
    fault = caught.value
    assert isinstance(fault, KernelFault)
    place = fault.kind, fault.source_file, fault.source_line, fault.block, fault.thread
    assert place == ("assert", "program.hip", 4, (3, 0, 0), (8, 0, 0))
    assert fault.args == ("o[i] < 77",)
    text = "program.hip:4: void checked(int *): Device-side assertion `o[i] < 77' failed.\n"
    assert capfd.readouterr().err == text


LISTS = """
struct Node { int value; Node *next; };
KERNEL build(Node **heads, int n) {
  Node *head = nullptr;
  for (int k = 0; k < n; ++k) {
    Node *node = (Node *)__ockl_dm_alloc(sizeof(Node));
    node->value = k * THREAD;
    node->next = head;
    head = node;
  }
  heads[THREAD] = head;
}
KERNEL add(Node **heads, int *o) {
  int sum = 0;
  for (Node *node = heads[THREAD]; node;) {
    Node *next = node->next;
    sum += node->value;
    __ockl_dm_dealloc((u64)node);
    node = next;
  }
  int *large = (int *)__ockl_dm_alloc(5000);
  large[THREAD] = sum;
  o[THREAD] = large[THREAD];
  __ockl_dm_dealloc((u64)large);
}
KERNEL too_large(int *o) { o[THREAD] = __ockl_dm_alloc(1ul << 60) == 0; }
"""


@pytest.mark.sample(1)
@needs_new_library
@pytest.mark.parametrize("processor", ["gfx1201", "gfx942"])
def test_memory_of_malloc_outlives_launches(processor: str) -> None:
    target = find_target(processor)
    assert target is not None
    device = EmulatorDevice(target, 2, 60.0)
    code = compile_program(LISTS, processor)
    heads, out = np.zeros(64, np.uint64), np.zeros(64, np.int32)
    for count in (5, 9):
        run(code, "build", 1, 64, [heads, np.int32(count)], device=device)
        assert len(set(heads.tolist())) == 64
        run(code, "add", 1, 64, [heads, out], device=device)
        np.testing.assert_array_equal(out, np.arange(64) * (count * (count - 1) // 2))
    run(code, "too_large", 1, 64, [out], device=device)
    assert (out == 1).all()


def refused(source: str, kernel: str, *args: Any) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        run(compile_program(source), kernel, 1, 32, [np.zeros(32, np.int32), *args])
    assert caught.value.kind == "unsupported-instruction"
    return caught.value


def test_calls_of_host_functions_are_refused_in_words() -> None:
    fault = refused(
        "KERNEL call(int *o) { o[THREAD] = __ockl_call_host_function(1, 2, 3, 4, 5, 6, 7, 8).x; }",
        "call",
    )
    assert "calls a function of the host (__ockl_call_host_function)" in str(fault)


UNRELATED = """
static NOINLINE int cube(int x) { asm volatile(""); return x * x * x; }
static NOINLINE int say(int x) { if (x > 2) __builtin_amdgcn_s_sendmsg(1, 0); return x; }
static NOINLINE int halt(int x) { if (x > 2) asm volatile("s_sethalt 1"); return x; }
static NOINLINE int odd(int x) { if (x > 2) asm volatile(".long 0xffffffff"); return x; }
KERNEL good(int *o) { o[THREAD] = cube(THREAD); }
KERNEL other(int *o, int n) { o[THREAD] = say(n); }
KERNEL halts(int *o, int n) { o[THREAD] = halt(n); }
KERNEL unknown(int *o, int n) { o[THREAD] = odd(n); }
"""


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@pytest.mark.parametrize("tier", ["quick", "full", None])
@pytest.mark.parametrize("processor", ["gfx1201", "gfx1100", "gfx942"])
def test_an_instruction_is_refused_when_it_is_executed(processor: str, tier: str | None) -> None:
    target = find_target(processor)
    assert target is not None
    device = EmulatorDevice(target, 1, 60.0, Environment(cache_dir=None, emulator_tier=tier))
    code, out = compile_program(UNRELATED, processor), np.zeros(32, np.int32)
    run(code, "good", 1, 32, [out], device=device)
    np.testing.assert_array_equal(out, np.arange(32) ** 3)
    words = {"other": "printf, assert and malloc", "halts": "s_sethalt", "unknown": "FFFFFFFF"}
    for kernel, text in words.items():
        run(code, kernel, 1, 32, [out, np.int32(2)], device=device)
        assert (out == 2).all()
        with pytest.raises(KernelFault, match=text) as caught:
            run(code, kernel, 1, 32, [out, np.int32(3)], device=device)
        assert caught.value.kind == "unsupported-instruction"
        assert caught.value.block == (0, 0, 0)


GRID = """
KERNEL exchange(int *a, int *b) {
  int i = BLOCK * 64 + THREAD;
  for (int k = 1; k < 4; ++k) {
    a[i] = k * i;
    __ockl_grid_sync();
    b[i] = a[255 - i];
    __ockl_grid_sync();
  }
}
"""


@pytest.mark.sample(2)
@pytest.mark.covering(1)
@needs_new_library
@pytest.mark.parametrize("processor", ["gfx1201", "gfx1100", "gfx942"])
@pytest.mark.parametrize("threads", [1, 3])
def test_grid_sync_lets_all_workgroups_meet(processor: str, threads: int) -> None:
    a, b = np.zeros(256, np.int32), np.zeros(256, np.int32)
    code = compile_program(GRID, processor)
    target = find_target(processor)
    assert target is not None
    device = EmulatorDevice(target, threads, 60.0)
    for _ in range(2):  # the second launch begins afresh
        b[:] = 0
        run(code, "exchange", 4, 64, [a, b], device=device, cooperative=True)
        np.testing.assert_array_equal(b, 3 * np.arange(255, -1, -1))
