"""What the pages on the language deny is denied: each sentence that says that something is refused,
missing or impossible has programs here, which are refused."""

from __future__ import annotations

import linecache
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import f32, i32, u8, u64
from amdjit.diagnostics import CompileError

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("language", "types", "from_numba")
DENYING = re.compile(
    r"refused|not supported|do not work|does not work|missing|There are no|cannot|no such"
)

DENIED = {
    "Of `math` only `fsum` is missing": ["x[0] = math.fsum(x)"],
    "There are no lists, dicts, sets, `with`, `try` or `import`": [
        "a = [1, n]\n    a.append(2)",
        "a = {n: 2}",
        "a = {1, n}",
        "with x:\n        x[0] = 1",
        "try:\n        x[0] = 1\n    finally:\n        x[1] = 2",
        "import math",
    ],
    "a kernel cannot catch what it raises": [
        "try:\n        raise ValueError('no')\n    except ValueError:\n        x[0] = 1"
    ],
    "it cannot assign them (`nonlocal`)": ["def f():\n        nonlocal n\n        n = 2\n    f()"],
    "parts of one array that may overlap are refused": ["x[1:] = x[:-1]"],
    "a right side that may overlap the left is refused": ["x[1:] += x[:-1]"],
    "What does not fit is refused, or at run time": ["np.negative(x.reshape(2, -1), w)"],
    "Operands that may overlap it otherwise are refused": ["np.add(x[:-1], 1, x[1:])"],
    "`where=`, `dtype=` and methods such as `np.add.reduce` are missing": [
        "np.add(x, 1, x, where=True)",
        "np.add(x, 1, x, dtype=np.float32)",
        "x[0] = np.add.reduce(x)",
    ],
    "that the other operand's type cannot hold is refused": ["b[0] = b[1] + 300"],
    "u64 on one path and signed on another, it is refused": [
        "w[0] = w[1] if n > 1 else n",
        "t = n\n    for k in range(3):\n        t ^= w[k]\n    w[0] = t",
    ],
    "as a constant it is refused": ["b[0] = n ** -1"],
    "A constant that the type cannot hold is refused": ["b[0] = u8(-1)"],
    "**Comparisons of vectors** are refused": ["x[0] = 1 if x.load(0, 4) < 1 else 2"],
    "or in a loop that may have no iteration, is refused when read": [
        "if n > 1:\n        t = 1\n    x[0] = t",
        "for k in range(n):\n        t = k\n    x[0] = t",
    ],
    "by a literal 0 it is refused": ["x[0] = n // 0"],
    "**Dividing by a constant 0 is refused**": [
        "x[0] = 10 // 0",
        "x[0] = 1.0 % 0.0",
        "x[0] = f32(1) / f32(0)",
        "x[0] = amdjit.grid(1) // 0",
        "x[0] = amdjit.grid(1) % 0",
        "x[0] = amdjit.grid(1) / 0",
        "x[0] = divmod(amdjit.grid(1), 0)[0]",
    ],
    "Numba's short ones (`f4`) are refused": ["x[0] = f4(n)"],
}
"""Part of each denying sentence, and bodies of kernels that are refused."""

OTHER = (
    "Everything else is refused with its line",
    "A kernel cannot write to it",
    "A record cannot be changed",
    "A loop that keeps an array of an earlier iteration",
    "where LLVM 22 cannot compile a call",
    "Indices that cannot be",
    "the kernel is refused ([AJ0114]",
    "`same` is the common type itself",
    "an integer that the float cannot hold is rounded",
    "what is refused and what to write instead",
)
"""Sentences whose programs stand elsewhere, or that deny nothing."""


def sentences(page: str) -> list[str]:
    """Return the sentences of a page, without its programs and tables."""
    text = re.sub(r"```.*?```", "", (DOCS / f"{page}.md").read_text("utf-8"), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith("|")]
    parts = re.split(r"(?<=[.:;])\s+|\n\n|\n- ", "\n".join(lines))
    return [" ".join(part.split()) for part in parts]


@pytest.mark.parametrize("page", PAGES)
def test_every_denial_has_a_program(page: str) -> None:
    known = (*DENIED, *OTHER)
    denials = [sentence for sentence in sentences(page) if DENYING.search(sentence)]
    assert [s for s in denials if not any(phrase in s for phrase in known)] == []


def test_every_program_belongs_to_a_sentence_of_the_pages() -> None:
    text = "\n".join(sentence for page in PAGES for sentence in sentences(page))
    assert [phrase for phrase in (*DENIED, *OTHER) if phrase not in text] == []


BODIES = [body for bodies in DENIED.values() for body in bodies]


@pytest.mark.parametrize("number", range(len(BODIES)), ids=lambda number: BODIES[number][:40])
def test_what_is_denied_is_refused(number: int) -> None:
    source = f"def denied(x, b, w, n):\n    {BODIES[number]}\n"
    file = f"<denied {number}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    made: dict[str, Any] = {"math": math, "np": np, "u8": u8, "__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), made)
    with pytest.raises(CompileError) as caught:
        amdjit.kernel(made["denied"]).compile(f32[:], u8[:], u64[:], i32, target="gfx1201")
    assert all(diagnostic.span is not None for diagnostic in caught.value.diagnostics)
    assert "help: " in str(caught.value)
