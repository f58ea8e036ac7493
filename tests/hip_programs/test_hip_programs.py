"""Programs that use HIP, whole, with their own checks: under all checks of the emulator, on every
family of processors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from amdjit.hip_programs import hip_library
from tests.emulator.launch.hip_programs import needs_new_library
from tests.hip_programs.hip_programs import (
    PROGRAMS,
    compile_program,
    line_with,
    needs_hip,
    run_program,
)

pytestmark = needs_hip

ALL_CHECKS = ("--check", "memory,race,init,sync")
# They take arguments, or ROCm's device library.
_OTHERS = ("bugs", "device_library", "modules", "processes")
NAMES = sorted({path.stem for path in PROGRAMS.glob("*.hip")} - set(_OTHERS))
# Of the others, each takes seconds in a cold cache.
_USUAL = {
    "gfx1201": ("compaction", "graph_parts", "handles", "memory", "mistakes", "registered_memory"),
    "gfx90a": ("reduction",),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("processor", "name"),
    [
        pytest.param(
            processor,
            name,
            marks=() if name in _USUAL.get(processor, ()) else pytest.mark.exhaustive,
        )
        for processor in ("gfx1201", "gfx1100", "gfx942", "gfx90a")
        for name in NAMES
    ],
)
def test_a_program_passes_and_is_clean(processor: str, name: str) -> None:
    options = (*ALL_CHECKS, "--device", f"emulator:{processor}")
    ran = run_program(compile_program(name, processor), options=options)
    assert (ran.code, ran.out, ran.reports) == (0, "PASS\n", []), ran.error


def test_the_module_api_takes_files_and_bytes() -> None:
    program, other = compile_program("modules", "gfx1201"), compile_program("vector_add", "gfx1201")
    data = other.read_bytes()
    bundle = other.with_suffix(".bundle")
    bundle.write_bytes(data[data.index(b"__CLANG_OFFLOAD_BUNDLE__") :])
    ran = run_program(program, str(bundle), options=ALL_CHECKS)
    assert (ran.code, ran.out, ran.reports) == (0, "PASS\n", []), ran.error


def test_what_is_missing_says_its_name_once() -> None:
    ran = run_program(compile_program("queries", "gfx1201"))
    for name in ("hipIpcGetMemHandle", "hipMallocArray"):
        assert ran.error.count(f"{name} is not supported") == 1


def test_every_function_of_hips_header_is_in_the_library() -> None:
    """Of HIP 7's, which Triton's wheel has: what is not there cannot be linked."""
    triton = find_spec("triton")
    if triton is None or triton.origin is None:
        pytest.skip("Triton is not installed")
    include = Path(triton.origin).parent / "backends/amd/include/hip"
    declared = set(re.findall(r"\b(hip[A-Z]\w*)\(", (include / "hip_runtime_api.h").read_text()))
    symbols = {each.name.partition("@")[0] for each in _dynamic_symbols(hip_library())}
    templates = {name for name in declared if name.startswith("hipOccupancyMaxPotentialBlockSize")}
    # Written in the header, and a function of kernels.
    others = {"hipLaunchKernelEx", "hipTriggerProgrammaticLaunchCompletion"}
    assert len(declared) > 450
    assert declared - symbols - templates == others


def _dynamic_symbols(library: Path) -> list[Symbol]:
    with library.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".dynsym")
        assert isinstance(section, SymbolTableSection)
        return [symbol for symbol in section.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"]


@pytest.mark.parametrize(
    "processor", ["gfx1201", pytest.param("gfx1100", marks=pytest.mark.exhaustive)]
)
def test_the_code_of_the_device_is_taken_of_several(processor: str) -> None:
    program = compile_program("vector_add", "gfx1100", "gfx1201")
    ran = run_program(program, options=("--device", f"emulator:{processor}"))
    assert (ran.code, ran.out) == (0, "PASS\n"), ran.error


@needs_new_library
@pytest.mark.parametrize(
    "options",
    [(), pytest.param(ALL_CHECKS, marks=pytest.mark.exhaustive)],  # the first takes minutes
)
def test_printf_malloc_assert_and_a_barrier_of_the_grid(options: tuple[str, ...]) -> None:
    program = compile_program("device_library", "gfx1201", library=True)
    ran = run_program(program, options=options)
    lines = [f"block {i} of 2 says hello {1.5 + i:.2f}" for i in range(2)]
    expected = ["the host speaks first", *lines, "then the host again", "PASS", ""]
    assert (ran.code, ran.out, ran.reports) == (0, "\n".join(expected), []), ran.error
    ran = run_program(program, "assert")
    assert ran.code == 128 + 6
    assert "Device-side assertion `threadIdx.x < n' failed" in ran.error
    (report,) = ran.reports
    assert report["line"] == line_with("device_library", "BUG assert")
    assert (report["kernel"], report["thread"]) == ("limited(int)", [20, 0, 0])


@pytest.mark.parametrize(
    ("when", "child"), [("before", "hipSuccess"), ("after", "hipErrorNoDevice")]
)
def test_a_child_may_use_hip_if_its_parent_has_not_begun(when: str, child: str) -> None:
    ran = run_program(compile_program("processes", "gfx1201"), when)
    assert (ran.code, ran.out) == (0, f"child: {child}\nPASS\n"), ran.error


def test_an_interrupt_ends_a_program_in_the_middle_of_a_kernel() -> None:
    program = compile_program("processes", "gfx1201")
    command = [sys.executable, "-m", "amdjit", "run", "--", str(program), "forever"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"starts\n"
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 128 + signal.SIGINT


def test_a_profile_is_a_page_of_the_programs_launches(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    program = compile_program("graph_nodes", "gfx1201")
    ran = run_program(program, options=("--profile", str(page)))
    assert (ran.code, ran.out) == (0, "PASS\n"), ran.error
    assert "graph_nodes.hip" in page.read_text()
    command = [sys.executable, "-m", "amdjit", "run", "--profile", str(page), "--check", "race"]
    done = subprocess.run(
        [*command, "--", str(program)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "run it twice" in done.stderr
