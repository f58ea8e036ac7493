"""What people are told of mistakes in programs that use HIP, and of programs that cannot run."""

from __future__ import annotations

import ctypes
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import amdjit
from amdjit.code_object.bundles import bundle_size
from amdjit.emulator.device import EmulatorDevice
from amdjit.hip_programs.gpu import Gpu
from amdjit.target import find_target
from tests.hip_programs.hip_programs import (
    PROGRAMS,
    compile_program,
    line_with,
    needs_hip,
    run_program,
)

pytestmark = needs_hip


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("bug", "check", "kind", "kernel"),
    [
        ("out-of-bounds", "memory", "out-of-bounds", "out_of_bounds(float*, int)"),
        ("use-after-free", "memory", "use-after-free", "touch(int*)"),
        ("leak", "memory", "leak", ""),
        ("race", "race", "lds", "race(int const*, int*)"),
        ("init", "init", "undefined-store", "uninitialised(int const*, int*)"),
        ("sync", "sync", "unreached-barrier", "divergent_barrier(int*)"),
    ],
)
def test_a_report_names_kernel_and_line(bug: str, check: str, kind: str, kernel: str) -> None:
    program = compile_program("bugs", "gfx1201")
    ran = run_program(program, bug, options=("--check", check, "--fail-on-report"))
    assert ran.code == 3, ran.error
    report = ran.reports[0]
    assert (report["check"], report["kind"], report["kernel"]) == (check, kind, kernel)
    assert report["file"] == str(PROGRAMS / "bugs.hip")
    lines = {report["line"], *([report["other"]["line"]] if report["other"] else [])}
    assert line_with("bugs", f"BUG {bug}") in lines
    assert f"bugs.hip:{report['line']}" in ran.error


def test_a_report_names_the_array_and_who_allocated_it() -> None:
    ran = run_program(
        compile_program("bugs", "gfx1201"), "out-of-bounds", options=("--check", "memory")
    )
    (report,) = ran.reports
    assert (report["array"], report["index"], report["shape"]) == ("x", [128], [128])
    assert (report["block"], report["thread"]) == ([2, 0, 0], [0, 0, 0])
    assert f"bugs.hip:{line_with('bugs', 'BUG leak')}" in report["notes"][-1]
    assert (ran.code, ran.out) == (0, "PASS\n")


def test_a_fault_ends_the_program_after_its_report() -> None:
    ran = run_program(compile_program("bugs", "gfx1201"), "out-of-bounds")
    assert (ran.code, ran.out) == (128 + 6, "")
    (report,) = ran.reports
    assert (report["check"], report["kernel"]) == ("fault", "out_of_bounds(float*, int)")
    assert report["line"] == line_with("bugs", "BUG out-of-bounds")
    assert "ended by SIGABRT" in ran.error
    assert (
        run_program(
            compile_program("bugs", "gfx1201"), "out-of-bounds", options=("--fail-on-report",)
        ).code
        == 3
    )


def test_a_recorded_launch_is_repeated(tmp_path: Path) -> None:
    program = compile_program("bugs", "gfx1201")
    run_program(program, "out-of-bounds", options=("--record", str(tmp_path)))
    (file,) = tmp_path.iterdir()
    found = amdjit.replay(file)
    (report,) = found.reports
    assert (report.array, report.index) == ("x", (128,))
    assert (report.file, report.line) == ("bugs.hip", line_with("bugs", "BUG out-of-bounds"))
    assert found.results["x"].tolist() == list(range(128))


def test_a_program_without_debug_information_is_told_of_it() -> None:
    program = compile_program("bugs", "gfx1201", debug=False)
    ran = run_program(program, "out-of-bounds", options=("--check", "memory"))
    (report,) = ran.reports
    assert (report["file"], report["array"]) == (None, "argument_0")
    assert report["notes"][-1].endswith("compile with -g")
    (leak,) = run_program(program, "leak", options=("--check", "memory")).reports
    assert (leak["kind"], leak["nbytes"], leak["file"]) == ("leak", 512, None)
    assert leak["notes"] == ["allocated by code without lines: compile with -g"]
    (late,) = run_program(program, "use-after-free", options=("--check", "memory")).reports
    assert late["kind"] == "use-after-free"
    assert late["notes"] == ["made by code without lines: compile with -g"]


def test_a_program_for_another_processor_is_told_which_one() -> None:
    ran = run_program(
        compile_program("vector_add", "gfx1201"), options=("--device", "emulator:gfx1100")
    )
    assert ran.code == 1
    assert "hipErrorNoBinaryForGpu" in ran.out
    assert "the program has code for gfx1201, and the device is emulator:gfx1100" in ran.error


def test_damaged_programs_end_with_errors_of_hip(tmp_path: Path) -> None:
    data = bytearray(compile_program("vector_add", "gfx1201").read_bytes())
    start = data.index(b"__CLANG_OFFLOAD_BUNDLE__")
    generator = random.Random(26)
    for number in range(3):
        damaged = bytearray(data)
        for _ in range(40):
            at = start + generator.randrange(24, 4096 + 2048)
            damaged[at] = generator.randrange(256)
        program = tmp_path / f"damaged{number}"
        program.write_bytes(damaged)
        program.chmod(0o755)
        ran = run_program(program)
        assert ran.code in (0, 1), ran.error
        assert ran.out.startswith(("PASS", "FAIL at ")), ran.error


def test_a_truncated_file_and_a_stripped_program(tmp_path: Path) -> None:
    data = compile_program("vector_add", "gfx1201").read_bytes()
    start = data.index(b"__CLANG_OFFLOAD_BUNDLE__")
    cut = tmp_path / "cut"
    cut.write_bytes(data[start : start + bundle_size(data[start:]) // 2])
    ran = run_program(compile_program("modules", "gfx1201"), str(cut))
    assert ran.code == 1
    assert "hipErrorInvalidImage" in ran.out
    assert "a code object is damaged" in ran.error
    stripped = tmp_path / "stripped"
    stripped.write_bytes(compile_program("bugs", "gfx1201").read_bytes())
    subprocess.run(["llvm-strip-22", str(stripped)], check=True)
    stripped.chmod(0o755)
    ran = run_program(stripped, "out-of-bounds", options=("--check", "memory"))
    (report,) = ran.reports
    assert (report["array"], report["line"]) == ("x", line_with("bugs", "BUG out-of-bounds"))
    assert report["notes"][-1].endswith("compile with -g")


def test_many_damaged_binaries_are_loaded_or_refused() -> None:
    target = find_target("gfx1201")
    assert target is not None
    gpu = Gpu(EmulatorDevice(target))
    data = compile_program("vector_add", "gfx1201").read_bytes()
    start = data.index(b"__CLANG_OFFLOAD_BUNDLE__")
    bundle = data[start : start + bundle_size(data[start:])]
    generator = random.Random(200)
    codes: Counter[int] = Counter()
    for _ in range(200):
        damaged = bytearray(bundle)
        for _ in range(generator.randrange(1, 30)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        size = generator.choice((len(damaged), generator.randrange(len(damaged))))
        content = (ctypes.c_ubyte * size).from_buffer(damaged)
        module = ctypes.c_uint64()
        codes[gpu.load(ctypes.addressof(content), size, ctypes.pointer(module))] += 1
    assert set(codes) <= {0, 200, 209}
    assert min(codes[0], codes[200]) > 10


def test_a_process_that_is_python_uses_its_own_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "allocate.py"
    script.write_text(
        "from hip import hip\n"
        "code, address = hip.hipMalloc(64)\n"
        "print(code == 0, hip.hipGetDeviceProperties(0)[1].gcnArchName)\n"
        "print(hip.hipFree(address)[0] == 0, int(hip.hipFree(address)[0]))\n"
        "leaked = hip.hipMalloc(64)\n"
    )
    options = ("--device", "emulator:gfx942", "--check", "memory")
    ran = run_program(Path(sys.executable), str(script), options=options)
    assert ran.code == 0, ran.error
    assert ran.out.splitlines() == ["True gfx942", "True 1"]
    (report,) = ran.reports
    assert (report["kind"], report["file"], report["line"]) == ("leak", str(script), 5)
    assert "free it before the program ends, such as by hipFree" in ran.error


def test_a_program_that_is_not_there_is_an_error() -> None:
    command = [sys.executable, "-m", "amdjit", "run"]
    done = subprocess.run([*command, "--", "/no/such"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no program /no/such" in done.stderr
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "say what to run" in done.stderr


def test_an_error_of_our_own_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    callbacks = Gpu(EmulatorDevice(find_target("gfx1201"))).callbacks
    address, size = ctypes.c_uint64(), ctypes.c_uint64()
    assert callbacks.symbol(99, b"x", ctypes.pointer(address), ctypes.pointer(size)) != 0
    assert not callbacks.describe(99, b"x")
    assert "symbol" in capsys.readouterr().err


def test_kernels_that_hiprtc_compiled_have_lines() -> None:
    program = compile_program("runtime_compiled", "gfx1201")
    ran = run_program(program, "too many", options=("--check", "memory"))
    assert (ran.code, ran.out) == (0, "PASS\n"), ran.error
    (report,) = ran.reports
    assert (report["kind"], report["line"]) == ("out-of-bounds", 5)
    assert report["file"] == "hiprtc/scale.hip"
    assert "void scale<int>(int*, int): load of 4 bytes at x[100]" in ran.error
