"""Kernels with random parameters: the layout against the code object's own metadata, and every
value of every argument from C through the launch into the kernel."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from amdjit.ahead_of_time import Build, build
from amdjit.code_object import CodeObject
from amdjit.command_line.kernel_files import load_kernel
from amdjit.command_line.signatures import parse_signature
from tests.ahead_of_time.copying_kernels import RandomKernel, random_kernel
from tests.ahead_of_time.standin_programs import (
    COMPILERS,
    compile_c,
    has,
    needs_standin,
    run_programs,
)

pytestmark = needs_standin


def seeds(count: int) -> list[int]:
    """The same each time, new ones for `AMDJIT_FUZZ=1`."""
    first = random.randrange(10**6) if "AMDJIT_FUZZ" in os.environ else 0
    return list(range(first, first + count))


def built(made: RandomKernel, folder: Path) -> Build:
    folder.mkdir(parents=True)
    file = folder / "copying.py"
    file.write_text(made.source)
    kernel = load_kernel(file, "copying")
    types = parse_signature(made.signature)
    found = build(kernel, *types, embed=True)
    found.write(folder)
    return found


def offsets_in_metadata(code_object: bytes) -> list[tuple[int, int]]:
    """Return offset and size of the explicit arguments as LLVM wrote them."""
    (kernel,) = CodeObject.read(code_object).kernels.values()
    return [(each.offset, each.size) for each in kernel.metadata.arguments if not each.is_hidden]


def printing_offsets(description: dict[str, Any]) -> str:
    """Return a C program that prints offset and size of each member of the kernarg struct."""
    lines = [
        f'  printf("%d %d\\n", (int)offsetof(copying_kernarg, {name}), '
        f"(int)sizeof(((copying_kernarg *)0)->{name}));"
        for name in (value["name"] for value in description["kernarg"]["values"])
    ]
    head = '#include <stdio.h>\n#include "copying.h"\nint main(void) {\n'
    return head + "\n".join(lines) + "\n  return 0;\n}\n"


def check_kernels(numbers: list[int], folder: Path) -> None:
    """Build the kernels of seeds, and compare what C says and does with them."""
    programs, expected = {}, {}
    for seed in numbers:
        place = folder / f"seed{seed}"
        made = random_kernel(seed)
        found = built(made, place)
        description = json.loads(found.files["copying.json"])
        metadata = offsets_in_metadata(found.targets[0].code_object)
        compiler = COMPILERS["C++11" if seed % 4 == 3 and has("g++") else "C99"]
        (place / "offsets.c").write_text(printing_offsets(description))
        programs[f"offsets{seed}"] = compile_c(
            place / "offsets.so", [place / "offsets.c"], compiler=COMPILERS["C99"]
        )
        # LLVM says how much a vector of 3 takes with its padding.
        values = description["kernarg"]["values"]
        expected[seed] = [(each["offset"], each["bytes"]) for each in values]
        assert [offset for offset, _ in metadata] == [offset for offset, _ in expected[seed]], seed
        assert all(a >= b for (_, a), (_, b) in zip(metadata, expected[seed], strict=True)), seed
        (place / "program.c").write_text(made.program)
        sources = [place / "program.c", place / "copying_code_object.c"]
        programs[f"copies{seed}"] = compile_c(place / "program.so", sources, compiler=compiler)
    texts = run_programs(programs, folder)
    for seed in numbers:
        *lines, last = texts[f"offsets{seed}"].splitlines()
        assert last == "exit 0"
        assert [tuple(map(int, line.split())) for line in lines] == expected[seed], seed
        count = random_kernel(seed).source.count("    out[")
        assert texts[f"copies{seed}"] == f"{count} copied\nexit 0\n", (
            seed,
            random_kernel(seed).signature,
        )


def test_c_passes_what_kernels_of_random_parameters_get(tmp_path: Path) -> None:
    check_kernels(seeds(5), tmp_path)


@pytest.mark.exhaustive
def test_c_passes_what_many_kernels_get(tmp_path: Path) -> None:
    check_kernels(list(range(1000, 1120)), tmp_path)
