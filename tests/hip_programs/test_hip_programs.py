"""Programs that use HIP, whole, with their own checks: under all checks of the emulator, on every
family of processors."""

from __future__ import annotations

import pytest

from tests.hip_programs.hip_programs import compile_program, needs_hip, run_program

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
