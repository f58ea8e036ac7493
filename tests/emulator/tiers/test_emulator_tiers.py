"""Both tiers of the emulator's translation do the same; which one is used, and how a launch
switches over."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from amdjit.abi.launch_shape import LaunchShape
from amdjit.code_object import CodeObject
from amdjit.diagnostics.errors import KernelFault
from amdjit.emulator import EmulatorDevice, run
from amdjit.emulator.host.jit import HostCompiler, HostObject
from amdjit.emulator.launch.workspace import Workspace
from amdjit.emulator.tiers import compilation, full, quick
from amdjit.emulator.tiers import quick as threaded
from amdjit.emulator.tiers.compilation import HostKernel
from amdjit.emulator.tiers.full import translate_wave
from amdjit.emulator.tiers.operation_library import OperationLibrary
from amdjit.emulator.tiers.quick import translate_threaded
from amdjit.emulator.tiers.shapes import KnownShapes
from amdjit.isa.analysis.control_flow import Graph, build_graph
from amdjit.isa.analysis.kernel_code import kernel_text
from amdjit.options import Environment
from amdjit.target import find_target
from tests.emulator.barrier_programs import HEAD as NAMED
from tests.emulator.barrier_programs import PIPELINE
from tests.emulator.building import KERNELS, assemble, compile_kernel, compile_source
from tests.emulator.random_programs import Program
from tests.emulator.required_tools import needs_tools

pytestmark = needs_tools

HEAD = '#include "common.h"\n'
# Lanes go round differently often, in a loop in a loop.
LOOPS = """
KERNEL loops(GLOBAL u32 *x, u32 rounds) {
  u32 i = BLOCK * 64 + LANE, total = x[i];
  for (u32 outer = 0; outer < rounds; ++outer)
    for (u32 inner = 0; inner < 100 + (i & 7); ++inner)
      total = (total ^ inner) * 2654435761u + outer;
  x[i] = total;
}
"""
# Waves that wait for each other at barriers in a loop, with values that live across them.
BARRIERS = """
SHARED u32 tile[128];
KERNEL barriers(GLOBAL u32 *x, u32 rounds) {
  u32 total = x[LANE];
  for (u32 round = 0; round < rounds; ++round) {
    tile[LANE] = total + round;
    barrier();
    total = total * 3 + tile[(LANE + 33) & 127];
    barrier();
  }
  x[LANE] = total;
}
"""
WAVE64 = HEAD + LOOPS


def graphs() -> list[tuple[str, Graph, int]]:
    sources = [
        (kernel, compile_kernel(kernel))
        for kernel in ("branches", "reduction", "atomics", "matrix", "bytes", "calls")
    ]
    sources += [(f"random {seed}", compile_source(Program(seed).source, "-O1")) for seed in (5, 6)]
    sources += [
        ("barriers", compile_source(HEAD + BARRIERS)),
        ("wave64", compile_source(WAVE64, "-O2", "-mwavefrontsize64")),
        ("named barriers", assemble(NAMED + PIPELINE, lds=64)),
    ]
    found = []
    for name, data in sources:
        code_object = CodeObject.read(data)
        for kernel in code_object.kernels.values():
            graph = build_graph(kernel_text(code_object, kernel), kernel.entry_address)
            found.append((f"{name} {kernel.name}", graph, kernel.descriptor.wave_size))
    return found


def machine(
    tier: str | None = None, cache: Path | None = None, threads: int = 1, time_limit: float = 60.0
) -> EmulatorDevice:
    target = find_target("gfx1201")
    assert target is not None
    return EmulatorDevice(
        target, threads, time_limit, Environment(cache_dir=cache, emulator_tier=tier)
    )


def compiled_for(device: EmulatorDevice, code: bytes, kernel: str, waves: int) -> HostKernel:
    function = device.load(code).function(kernel)
    return function.module.kernels.for_launch(function.kernel, True, waves)


def test_both_tiers_give_sites_and_pauses_the_same_numbers() -> None:
    seen = 0
    for name, graph, wave_size in graphs():
        for full_waves in (False, True):
            whole = translate_wave(graph, full_waves, "", wave_size=wave_size)
            program = translate_threaded(graph, full_waves, wave_size=wave_size)
            facts = (whole.site_pcs, whole.resume_pcs, whole.longest, whole.may_yield)
            assert (
                program.site_pcs,
                program.resume_pcs,
                program.longest,
                program.may_yield,
            ) == facts, name
            seen += 1
    assert seen >= 20


def test_instructions_of_a_kind_share_their_operation() -> None:
    body = "\n".join(f"  v_add_nc_u32_e32 v{n}, v{n + 1}, v{n + 2}" for n in range(1, 60))
    code_object = CodeObject.read(assemble(body))
    (kernel,) = code_object.kernels.values()
    graph = build_graph(kernel_text(code_object, kernel), kernel.entry_address)
    program = translate_threaded(graph, True)
    # The additions, registers that start as 0, the jump to the first instruction and the end.
    assert len(program.operations) == 4
    assert sum(len(places) for places in program.calls.values()) > 100


def test_a_register_twice_in_an_instruction_is_another_operation() -> None:
    body = (
        "  v_sub_nc_u32_e32 v1, v2, v3\n  v_sub_nc_u32_e32 v1, v2, v2\n  v_sub_nc_u32_e32 v2, "
        "v2, v3"
    )
    code_object = CodeObject.read(assemble(body))
    (kernel,) = code_object.kernels.values()
    graph = build_graph(kernel_text(code_object, kernel), kernel.entry_address)
    assert (
        sum(
            "sub <32 x i32>" in operation.body
            for operation in translate_threaded(graph, True).operations
        )
        == 3
    )


def test_instructions_of_a_known_shape_are_translated_as_by_their_emitters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = KnownShapes()
    for _, graph, wave_size in graphs():
        translate_threaded(graph, True, wave_size=wave_size, known=known)
    for name, graph, wave_size in graphs():
        found = translate_threaded(graph, True, wave_size=wave_size, known=known)
        with monkeypatch.context() as patch:
            patch.setattr(threaded, "shape_of", lambda instruction: None)
            expected = translate_threaded(graph, True, wave_size=wave_size)
        assert found == expected, name


def test_what_depends_on_its_place_shares_an_operation() -> None:
    code_object = CodeObject.read(assemble("  s_getpc_b64 s[4:5]\n  v_nop\n  s_getpc_b64 s[4:5]"))
    (kernel,) = code_object.kernels.values()
    graph = build_graph(kernel_text(code_object, kernel), kernel.entry_address)
    program = translate_threaded(graph, True)
    assert sum("add i64" in operation.body for operation in program.operations) == 1


# Which tier


def test_small_launches_of_long_kernels_are_quick_and_large_ones_are_not(tmp_path: Path) -> None:
    code = assemble("\n".join(["  v_add_nc_u32_e32 v1, v2, v3"] * 500))
    assert compiled_for(machine(cache=tmp_path), code, "kernel", 10).running is not None
    assert compiled_for(machine(cache=tmp_path), code, "kernel", 10**6).running is None
    # That code is on disk now, and as soon loaded as anything.
    assert compiled_for(machine(cache=tmp_path), code, "kernel", 10).running is None


def test_a_short_kernel_whose_operations_nobody_has_made_is_not_quick(tmp_path: Path) -> None:
    code = compile_kernel("saxpy")
    assert compiled_for(machine(cache=tmp_path), code, "saxpy", 1).running is None


@pytest.mark.parametrize("tier", ["quick", "full"])
def test_the_setting_forces_a_tier(tier: str) -> None:
    for waves in (1, 10**6):
        assert (
            compiled_for(machine(tier), compile_kernel("saxpy"), "saxpy", waves).running is None
        ) == (tier == "full")


def test_kernels_that_call_functions_are_quick_at_first() -> None:
    code = compile_kernel("calls")
    for kernel in CodeObject.read(code).kernels:
        assert compiled_for(machine("quick"), code, kernel, 1).running is not None


def test_a_large_kernel_is_translated_while_its_quick_code_runs() -> None:
    # 1500 instructions: more than `compilation._LARGE`.
    body = ["  v_mov_b32_e32 v3, 1"] + ["  v_add_nc_u32_e32 v3, v3, v3"] * 1500
    code, device = assemble("\n".join(body)), machine()
    kernel = device.load(code).function("kernel")
    kernels = kernel.module.kernels
    quick = kernels.for_launch(kernel.kernel, True, 1)
    assert quick.running is not None
    assert quick.running.is_large
    quick.running.seconds = quick.running.limit + 1
    assert quick.is_outgrown
    deadline = time.monotonic() + 60
    found = [kernels.for_launch(kernel.kernel, True, 1)]
    while found[-1] is quick and time.monotonic() < deadline:
        time.sleep(0.01)
        found.append(kernels.for_launch(kernel.kernel, True, 1))
    assert found[0] is quick
    assert found[-1].running is None
    assert found[-1].program is None


def test_checked_launches_are_full() -> None:
    function = machine("quick").load(compile_kernel("saxpy")).function("saxpy")
    assert function.module.kernels.full(function.kernel, True).running is None


def test_a_kernel_that_has_run_long_enough_is_made_full(monkeypatch: pytest.MonkeyPatch) -> None:
    device = machine()
    function = device.load(compile_source(HEAD + LOOPS)).function("loops")
    monkeypatch.setattr(compilation, "_OPERATION", 0.0)
    monkeypatch.setattr(compilation, "_MANY", 0)
    kernels = function.module.kernels
    quick = kernels.for_launch(function.kernel, True, 2)
    assert quick.running is not None
    assert kernels.for_launch(function.kernel, True, 2) is quick
    address = device.allocate(256)
    kernarg = bytearray(address.to_bytes(8, "little") + (1).to_bytes(4, "little"))
    device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), kernarg)
    assert quick.running.seconds > 0
    quick.running.seconds = quick.running.limit + 1
    device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), kernarg)
    assert kernels.for_launch(function.kernel, True, 2).running is None


# Large kernels, whose registers stay in memory


def many_waits(wave_size: int) -> str:
    """Return a kernel in which 64 vectors, two scalars and SCC live across each of 60 barriers."""
    lines = ["  s_load_b128 s[4:7], s[0:1], 0x0", "  s_waitcnt lgkmcnt(0)"]
    lines += [f"  v_mul_u32_u24_e32 v{n}, {n}, v0" for n in range(1, 64)]
    lines += ["  s_mov_b32 s8, 7"]
    for n in range(60):
        lines += [f"  s_bitcmp1_b32 s8, {n & 7}", "  s_barrier_signal -1", "  s_barrier_wait -1"]
        lines += ["  s_cselect_b32 s9, 3, 5", "  s_mul_i32 s8, s8, s9", "  s_add_i32 s8, s8, 1"]
        lines += [f"  v_mad_u32_u24 v{n + 2}, v{n + 1}, s9, v{n + 2}"]
    lines += [f"  v_xor_b32_e32 v1, v1, v{n}" for n in range(2, 64)]
    lines += ["  v_add_nc_u32_e32 v1, s8, v1", "  v_lshlrev_b32_e32 v0, 2, v0"]
    return "\n".join([*lines, "  global_store_b32 v0, v1, s[6:7]"])


@pytest.mark.parametrize("wave_size", [32, 64])
def test_registers_of_large_kernels_stay_in_memory(
    monkeypatch: pytest.MonkeyPatch, wave_size: int
) -> None:
    code = assemble(many_waits(wave_size), lds=64, wave_size=wave_size)
    results = []
    for tier, most_saved in (("quick", 2_500), ("full", 2_500), ("full", 1_000_000)):
        monkeypatch.setattr(full, "_MOST_SAVED", most_saved)
        monkeypatch.setattr(full, "_MOST_JOINED", 10 * most_saved)
        out = np.zeros(256, np.uint32)
        run(code, "kernel", 1, 256, [np.zeros(1, np.uint32), out], device=machine(tier))
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    assert len(set(results[0].tolist())) > 200
    code_object = CodeObject.read(code)
    (kernel,) = code_object.kernels.values()
    graph = build_graph(kernel_text(code_object, kernel), kernel.entry_address)
    monkeypatch.setattr(full, "_MOST_SAVED", 2_500)
    assert translate_wave(graph, True, "", wave_size=wave_size).keeps_slots
    # What is translated in the background may take longer.
    assert not translate_wave(graph, True, "", wave_size=wave_size, enterable=True).keeps_slots


# Changing over in the middle of a launch


@pytest.fixture
def takeovers(monkeypatch: pytest.MonkeyPatch) -> list[HostKernel]:
    """Let the full tier take over as soon as possible; returns what took over."""
    monkeypatch.setattr(compilation, "_OPERATION", 0.0)
    monkeypatch.setattr(compilation, "_MANY", 0)
    monkeypatch.setattr(compilation.Running, "left", property(lambda self: 0.0))
    changed: list[HostKernel] = []
    change = Workspace.change

    def noted(self: Workspace, compiled: HostKernel) -> None:
        changed.append(compiled)
        change(self, compiled)

    monkeypatch.setattr(Workspace, "change", noted)
    return changed


@pytest.mark.sample(2)
@pytest.mark.parametrize("flags", [("-O3",), ("-O1", "-mwavefrontsize64")])
@pytest.mark.parametrize(("threads", "most_saved"), [(1, 2_500), (2, 2_500), (1, -1)])
def test_waves_change_over_in_their_loops(
    takeovers: list[HostKernel],
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
    threads: int,
    most_saved: int,
) -> None:
    monkeypatch.setattr(full, "_MOST_SAVED", most_saved)
    rounds = 60_000
    x = np.arange(128, dtype=np.uint32)
    expected = x.copy()
    quick = machine(threads=threads)
    run(compile_source(HEAD + LOOPS, *flags), "loops", 2, 64, [x, np.uint32(rounds)], device=quick)
    assert len(takeovers) == 1
    run(
        compile_source(HEAD + LOOPS, *flags),
        "loops",
        2,
        64,
        [expected, np.uint32(rounds)],
        device=machine("full"),
    )
    np.testing.assert_array_equal(x, expected)


def test_waves_change_over_between_barriers(takeovers: list[HostKernel]) -> None:
    rounds = 1_000_000
    x, expected = np.arange(128, dtype=np.uint32), np.arange(128, dtype=np.uint32)
    code = compile_source(HEAD + BARRIERS)
    device = machine()
    run(code, "barriers", 1, 128, [x, np.uint32(rounds)], device=device)
    assert len(takeovers) == 1
    run(code, "barriers", 1, 128, [expected, np.uint32(rounds)], device=machine("full"))
    np.testing.assert_array_equal(x, expected)


def test_a_launch_behind_one_that_changed_over_starts_with_its_own_code(
    takeovers: list[HostKernel],
) -> None:
    code, device = compile_source(HEAD + LOOPS), machine()
    function = device.load(code).function("loops")
    address = device.allocate(256)
    for rounds in (60_000, 3):
        x = np.arange(64, dtype=np.uint32)
        device.copy_to_device(address, x.data.cast("B"))
        kernarg = bytearray(address.to_bytes(8, "little") + rounds.to_bytes(4, "little"))
        device.launch(function, LaunchShape((1, 1, 1), (64, 1, 1)), kernarg)
        device.copy_to_host(x.data.cast("B"), address)
        expected = np.arange(64, dtype=np.uint32)
        run(code, "loops", 1, 64, [expected, np.uint32(rounds)], device=machine("full"))
        np.testing.assert_array_equal(x, expected)
    assert len(takeovers) == 1


def test_a_time_limit_stops_what_has_changed_over(takeovers: list[HostKernel]) -> None:
    source = (
        HEAD
        + "KERNEL endless(GLOBAL u32 *x) {\n  for (u32 n = 1; n; n |= 1) ++*(volatile GLOBAL u32 "
        "*)x;\n}\n"
    )
    with pytest.raises(KernelFault) as caught:
        run(
            compile_source(source),
            "endless",
            1,
            32,
            [np.zeros(1, np.uint32)],
            device=machine(time_limit=1.0),
        )
    assert caught.value.kind == "time-limit"
    assert caught.value.source_line == 3


# The cache


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    compile_quickly = HostCompiler.compile_quickly

    def counted(self: HostCompiler, text: str) -> HostObject:
        made.append(text)
        return compile_quickly(self, text)

    monkeypatch.setattr(HostCompiler, "compile_quickly", counted)
    return made


def reduce(cache: Path) -> None:
    x, sums = np.arange(2000, dtype=np.float32), np.zeros(8, np.float32)
    arguments = [x, sums, np.uint32(2000)]
    run(compile_kernel("reduction"), "reduction", 8, 256, arguments, device=machine("quick", cache))
    assert sums.tolist() == np.append(x, np.zeros(48)).reshape(8, 256).sum(1).tolist()


def test_another_process_translates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reduce(tmp_path)
    made = counting(monkeypatch)
    monkeypatch.setattr(
        quick, "translate_threaded", lambda *arguments: pytest.fail("translated again")
    )
    reduce(tmp_path)
    assert not made


def test_operations_are_made_once_for_all_kernels_and_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = counting(monkeypatch)
    reduce(tmp_path)
    assert len(made) == 1
    reduce(tmp_path)
    assert len(made) == 1
    # Another kernel of some of these instructions.
    device = machine("quick", tmp_path)
    compiled_for(
        device, compile_source((KERNELS / "reduction.c").read_text(), "-O1"), "reduction", 1
    )
    assert len(made) == 2
    before, after = (set(re.findall(r"define i64 @(aj_op_\w+)", text)) for text in made)
    assert after
    assert not before & after


@pytest.mark.sample(1)
@pytest.mark.parametrize("keep", [0, 100, -1])
def test_damaged_packs_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: int
) -> None:
    made = counting(monkeypatch)
    reduce(tmp_path)
    for path in tmp_path.rglob("*.bin"):
        path.write_bytes(path.read_bytes()[:keep])
    reduce(tmp_path)
    assert len(made) == 2
    reduce(tmp_path)
    assert len(made) == 2


def test_a_list_of_packs_that_are_gone_is_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = counting(monkeypatch)
    reduce(tmp_path)
    (pack,) = (
        path
        for path in tmp_path.rglob("*.bin")
        if b"aj_op" in path.read_bytes() and b"ELF" in path.read_bytes()
    )
    pack.unlink()
    reduce(tmp_path)
    assert len(made) == 2


def test_operations_that_are_let_go_of_meanwhile_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reduce(tmp_path)
    made = counting(monkeypatch)
    missing = OperationLibrary.missing

    def forgetful(library: OperationLibrary, symbols: Iterable[str]) -> frozenset[str]:
        found = missing(library, symbols)
        # Another kernel was the last user, and another process has replaced the list of packs.
        library._recent.clear()
        library._listed = {}
        return found

    monkeypatch.setattr(OperationLibrary, "missing", forgetful)
    reduce(tmp_path)
    assert len(made) == 1
