"""Programs that use HIP, whole, with their own checks: under all checks of the emulator, on every
family of processors."""

from __future__ import annotations

import pytest

from tests.emulator.launch.hip_programs import needs_new_library
from tests.hip_programs.hip_programs import compile_program, line_with, needs_hip, run_program

pytestmark = needs_hip

ALL_CHECKS = ("--check", "memory,race,init,sync")
PROGRAMS = (
    "vector_add",
    "reduction",
    "scan",
    "stencil",
    "matrix_product",
    "histogram",
    "streams",
    "symbols",
    "memory",
    "queries",
    "graphs",
    "threads",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_passes_and_is_clean(name: str) -> None:
    ran = run_program(compile_program(name, "gfx1201"), options=ALL_CHECKS)
    assert (ran.code, ran.out, ran.reports) == (0, "PASS\n", []), ran.error


@pytest.mark.foreign
@pytest.mark.parametrize("processor", ["gfx1100", "gfx942", "gfx90a"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_passes_on_other_processors(name: str, processor: str) -> None:
    options = (*ALL_CHECKS, "--device", f"emulator:{processor}")
    ran = run_program(compile_program(name, processor), options=options)
    assert (ran.code, ran.out, ran.reports) == (0, "PASS\n", []), ran.error


def test_the_module_api_takes_files_and_bytes() -> None:
    program, other = compile_program("modules", "gfx1201"), compile_program("vector_add", "gfx1201")
    data = other.read_bytes()
    bundle = other.with_suffix(".bundle")
    bundle.write_bytes(data[data.index(b"__CLANG_OFFLOAD_BUNDLE__") :])
    ran = run_program(program, str(bundle))
    assert (ran.code, ran.out, ran.reports) == (0, "PASS\n", []), ran.error


def test_what_is_missing_says_its_name_once() -> None:
    ran = run_program(compile_program("queries", "gfx1201"))
    assert ran.error.count("hipIpcGetMemHandle is not supported") == 1


def test_the_code_of_the_device_is_taken_of_several() -> None:
    program = compile_program("vector_add", "gfx1201", "gfx1100")
    for processor in ("gfx1201", "gfx1100"):
        ran = run_program(program, options=("--device", f"emulator:{processor}"))
        assert (ran.code, ran.out) == (0, "PASS\n"), ran.error


@needs_new_library
def test_printf_malloc_assert_and_a_barrier_of_the_grid() -> None:
    program = compile_program("device_library", "gfx1201", library=True)
    ran = run_program(program, options=ALL_CHECKS)
    lines = [f"block {i} of 2 says hello {1.5 + i:.2f}" for i in range(2)]
    expected = ["the host speaks first", *lines, "then the host again", "PASS", ""]
    assert (ran.code, ran.out, ran.reports) == (0, "\n".join(expected), []), ran.error
    ran = run_program(program, "assert")
    assert ran.code == 128 + 6
    assert "Device-side assertion `threadIdx.x < n' failed" in ran.error
    (report,) = ran.reports
    assert report["line"] == line_with("device_library", "BUG assert")
    assert (report["kernel"], report["thread"]) == ("limited(int)", [20, 0, 0])
