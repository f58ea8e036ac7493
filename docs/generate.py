"""Write the reference pages from the code, and the generated parts of other pages: `python
docs/generate.py`.

`tests/docs/test_reference.py` fails if a page is not what this script writes.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType

from generators import (
    arithmetic_page,
    builtin_pages,
    cycle_page,
    function_stubs,
    hazard_page,
    json_page,
    matrix_pages,
    shown_views,
    target_page,
)
from generators.emulator_opcodes import introduction as opcode_introduction
from generators.emulator_opcodes import tables as opcode_tables
from generators.error_page import errors
from generators.exactness import (
    EXACTNESS,
    OF_DOUBLES,
    measured_errors,
    measured_errors_of_doubles,
)
from generators.intrinsics_page import intrinsics
from generators.numba_checklist import page as checklist
from generators.page_form import page, table

import amdjit
from amdjit.launching.kernel_options import SPELLINGS
from amdjit.learning.pages import puzzles
from amdjit.options import CompileOptions, Environment
from amdjit.testing.figures import FIGURES, Figure

ROOT = Path(__file__).parents[1]


def targets() -> str:
    """Return the page of processors."""
    return page(
        "Targets",
        "amdjit/target.py",
        target_page.INTRODUCTION,
        [
            table(target_page.FACTS_HEAD, target_page.fact_rows()),
            f"## Features\n\n{target_page.FEATURES}\n\n"
            + table(target_page.FEATURES_HEAD, target_page.feature_rows()),
        ],
    )


def options() -> str:
    """Return the page of compile options."""
    described = described_fields(CompileOptions)
    fields = [field for field in dataclasses.fields(CompileOptions) if field.name != "target"]
    rows = [(f"`{field.name}`", f"`{field.default!r}`", described[field.name]) for field in fields]
    introduction = (
        "Given to the decorator, `@amdjit.kernel(fastmath=True, block=256)`, or to a single "
        "compilation, `kernel.compile(..., opt_level=0)`. Wrong values raise `OptionError`.\n\n"
        "`compile` also takes `target`, the name of a processor or a target id such as "
        "`gfx90a:sramecc+:xnack-`, or a list of them; for a launch it is the device's."
    )
    spelled = [(f"`{each.name}`", each.meaning) for each in SPELLINGS]
    return page(
        "Options",
        "amdjit/options.py and amdjit/launching/kernel_options.py",
        introduction,
        [
            table(("option", "default", "meaning"), rows),
            "## Other spellings\n\nMost are Numba's.",
            table(("option", "meaning"), spelled),
        ],
    )


def accuracy() -> str:
    """Return the page on the accuracy of functions of real numbers."""
    return page(
        "Exactness of functions",
        "docs/math_accuracy.json and docs/math_accuracy_f64.json",
        EXACTNESS,
        [table(*measured_errors()), OF_DOUBLES, table(*measured_errors_of_doubles())],
    )


def numba() -> str:
    """Return the checklist of numba-cuda's features."""
    introduction = (
        "The features named by numba-cuda's pages on its language and its kernel API, and covered "
        "by its tests. *yes*: works as there; *different*: works in another way, or by another "
        "name; *refused*: an error with its line says what to write instead. The tests run each "
        "row: features that work match Python's results on the emulator, refused ones cause their "
        "error. [From numba-cuda and numba.hip](../from_numba.md) says how to begin."
    )
    return page(
        "Checklist for users of Numba",
        "docs/generators/numba_checklist.txt",
        introduction,
        checklist(table),
    )


def environment() -> str:
    """Return the page of environment variables."""
    rows = []
    for text in described_fields(Environment).values():
        name, _, meaning = text.partition(",")
        rows.append((f"`{name.strip(' .')}`", meaning.strip()))
    introduction = (
        "Read when a kernel is decorated and when the first device is requested. Empty variables "
        "count as unset, except `AMDJIT_CACHE_DIR`. A value that cannot be used raises "
        "`OptionError` with the name of the variable."
    )
    return page(
        "Environment variables",
        "amdjit/options.py",
        introduction,
        [table(("variable", "meaning"), rows)],
    )


def opcodes() -> str:
    """Return the page of the emulator's instructions."""
    source = "amdjit/isa/gfx12_tables.py and tests/emulator/checked_by.py"
    return page("Instructions of the emulator", source, opcode_introduction(), opcode_tables(table))


def described_fields(kind: type) -> dict[str, str]:
    """Return what a dataclass's docstring says about each field: `name: text`, up to the next
    name."""
    names = "|".join(field.name for field in dataclasses.fields(kind))
    text = " ".join((inspect.getdoc(kind) or "").split())
    pieces = re.split(rf"(?:^|(?<=\. )|(?<= ))({names}): ", text)
    return {name: meaning.strip() for name, meaning in zip(pieces[1::2], pieces[2::2], strict=True)}


def readme() -> str:
    """Return the README with the current machine code and views of its first kernel."""
    text = (ROOT / "README.md").read_text()
    source = shown_views.kernel_source(text).replace("from amdjit import f32\n", "", 1)
    f32 = amdjit.f32
    compiled = shown_views.compiled_from(source, "saxpy.py", f32, f32[:], f32[:], f32[:])
    listing = compiled.asm.rstrip()
    pattern = r"(<!-- generated: saxpy -->\n```\n).*?(```\n<!-- end -->)"
    text = re.sub(pattern, lambda match: f"{match[1]}{listing}\n{match[2]}", text, flags=re.DOTALL)
    return shown_views.with_blocks(text, compiled)


def inspection() -> str:
    """Return the page on inspection with the current views of its kernel."""
    text = (ROOT / "docs/inspection.md").read_text()
    f32 = amdjit.f32
    compiled = shown_views.compiled_from(
        shown_views.kernel_source(text), "row_sums.py", f32[:, :], f32[:]
    )
    return shown_views.with_blocks(text, compiled)


def gates() -> str:
    """Return the page on gates with the table of figures."""
    text = (ROOT / "docs/gate.md").read_text()
    rows = [
        (f"`{one.name}`", one.meaning, one.unit, _sources(one), one.better)
        for one in FIGURES.values()
    ]
    shown = table(("figure", "meaning", "unit", "from", "better"), rows)
    pattern = r"(<!-- generated: figures -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda m: f"{m[1]}{shown}\n{m[2]}", text, flags=re.DOTALL)


def _sources(figure: Figure) -> str:
    readers = (("code", figure.of_code), ("launch", figure.of_launch))
    return ", ".join(name for name, reader in readers if reader is not None)


def learn() -> str:
    """Return the page on the course with the table of puzzles."""
    text = (ROOT / "docs/learn.md").read_text()
    rows = [
        (str(one.number), one.title, one.chapter, one.limits and f"`{one.limits}`")
        for one in puzzles().values()
    ]
    shown = table(("", "puzzle", "chapter", "limits"), rows)
    pattern = r"(<!-- generated: puzzles -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda m: f"{m[1]}{shown}\n{m[2]}", text, flags=re.DOTALL)


def cycles() -> str:
    """Return the page on the cycle model with the current tables."""
    return cycle_page.with_tables((ROOT / "docs/cycles.md").read_text(), table)


def json_forms() -> str:
    """Return the page of the JSON forms of inspections and profiles."""
    source = "the docstrings of amdjit/inspection, amdjit/profiling and amdjit/cycles"
    return page("JSON forms", source, json_page.INTRODUCTION, json_page.sections(table))


def builtins(group: str) -> str:
    """Return the page of one group of clang's builtins."""
    members = builtin_pages.groups()[group]
    text = builtin_pages.introduction(group, members)
    rows = builtin_pages.table_rows(members)
    return page(
        f"Builtins: {group}",
        "intrinsics/builtins/amdgcn_builtins.tsv",
        text,
        [table(builtin_pages.HEAD, rows)],
    )


def builtin_index() -> str:
    """Return the page that leads to the groups."""
    text = (
        "clang's `__builtin_amdgcn_*` builtins in `amdjit.intrinsics.amdgcn`, and how many of "
        "them each processor has." + builtin_pages.alike()
    )
    rows = table(builtin_pages.INDEX_HEAD, builtin_pages.index_rows())
    return page("Builtins", "intrinsics/builtins/amdgcn_builtins.tsv", text, [rows])


BUILTIN_PAGES: dict[Path, Callable[[], str]] = {
    ROOT / "docs/reference/builtins" / builtin_pages.file_name(group): partial(builtins, group)
    for group in builtin_pages.groups()
}

PAGES: MappingProxyType[Path, Callable[[], str]] = MappingProxyType(
    {
        ROOT / "docs/reference/errors.md": errors,
        ROOT / "docs/reference/intrinsics.md": intrinsics,
        ROOT / "docs/reference/builtins/README.md": builtin_index,
        ROOT / "intrinsics/amdgcn.pyi": builtin_pages.stub,
        **function_stubs.STUBS,
        **matrix_pages.pages(page, table),
        ROOT / "docs/reference/targets.md": targets,
        ROOT / "docs/reference/options.md": options,
        ROOT / "docs/reference/environment.md": environment,
        ROOT / "docs/reference/math.md": accuracy,
        ROOT / "docs/reference/numba.md": numba,
        ROOT / "docs/reference/emulator_instructions.md": opcodes,
        ROOT / "docs/reference/inspection_json.md": json_forms,
        ROOT / "docs/inspection.md": inspection,
        ROOT / "docs/cycles.md": cycles,
        ROOT / "docs/gate.md": gates,
        ROOT / "docs/learn.md": learn,
        hazard_page.FILE: partial(hazard_page.page, table),
        arithmetic_page.FILE: partial(arithmetic_page.page, table),
        ROOT / "README.md": readme,
        **BUILTIN_PAGES,
    }
)


def main() -> None:
    """Write every page."""
    for file, make in PAGES.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(make())


if __name__ == "__main__":
    main()
