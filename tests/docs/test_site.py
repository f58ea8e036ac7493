"""The documentation site leads to every page, and its API pages to every public name."""

from __future__ import annotations

import re
from pathlib import Path

import amdjit
from amdjit.declarations import Intrinsic, SpecialForm
from amdjit.types import Type

DOCS = Path(__file__).parents[2] / "docs"
_TREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(r"^\.\. auto\w+:: amdjit\.(\w+)$", re.MULTILINE)


def entries(page: Path) -> set[Path]:
    """Return the pages that a page's tables of contents name."""
    lines = [line for tree in _TREE.findall(page.read_text()) for line in tree.splitlines()]
    names = [line for line in lines if line and not line.startswith(":")]
    return {(page.parent / name).with_suffix(".md") for name in names}


def test_every_page_has_a_place_in_the_table_of_contents() -> None:
    found, pending = set(), [DOCS / "index.md"]
    while pending:
        page = pending.pop()
        assert page.exists(), f"{page.relative_to(DOCS)} is in a table of contents, but not there"
        if page not in found:
            found.add(page)
            pending += entries(page)
    # conf.py lists these behind their README.
    builtins = set((DOCS / "reference" / "builtins").glob("*.md"))
    assert set(DOCS.rglob("*.md")) - found - builtins == set()


def is_for_the_host(name: str) -> bool:
    """Whether a public name is of programs that launch, not of kernels: those are in the list of
    intrinsics."""
    value = getattr(amdjit, name)
    if name == "jit":  # the text of the page of kernels names it
        return False
    is_of_kernels = isinstance(value, (Intrinsic, SpecialForm, Type)) or name in OF_KERNELS
    return not is_of_kernels


# What kernels call or write in annotations and is no intrinsic: docs/language.md describes it.
OF_KERNELS = {
    "As", "Choice", "Const", "Immediate", "address_of", "atomic", "block", "blockDim", "blockIdx",
    "const",
    "cooperative_groups",
    "grid",
    "gridDim", "gridsize", "intrinsics", "lane_id", "local", "shared", "syncthreads", "threadIdx",
    "vector", "wave_id", "wavefront_size", "complex64", "complex128",
}  # fmt: skip


def test_every_public_name_has_a_place_in_the_api_reference() -> None:
    pages = "\n".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    documented = set(_DIRECTIVE.findall(pages))
    assert {name for name in amdjit.__all__ if is_for_the_host(name)} - documented == set()
    # `from amdjit import *` leaves Python's own `compile` as it is.
    assert documented - set(amdjit.__all__) == {"compile"}
