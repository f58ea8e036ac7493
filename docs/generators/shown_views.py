"""Views of a page's own kernel, as `amdjit inspect` shows them, for the page's generated blocks."""

from __future__ import annotations

import linecache
import re
from typing import Any

from amdjit.api import Kernel
from amdjit.compiled_kernel import CompiledKernel
from amdjit.explorer.terminal.views import view

__all__ = ["compiled_from", "kernel_source", "with_blocks"]


def kernel_source(text: str) -> str:
    """Return the first kernel of a page's first program, as a file of its own."""
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert program is not None
    definition = re.search(
        r"^@amdjit.kernel\ndef .*?(?=^\w|\Z)", program[1], re.MULTILINE | re.DOTALL
    )
    assert definition is not None
    return f"import amdjit\nfrom amdjit import f32\n\n{definition[0].rstrip()}\n"


def compiled_from(source: str, file: str, *types: Any) -> CompiledKernel:
    """Return the kernel of a source text, compiled as if it stood in a file of that name."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "shown_kernel"}
    exec(compile(source, file, "exec"), names)
    (kernel,) = (value for value in names.values() if isinstance(value, Kernel))
    return kernel.compile(*types, target="gfx1201", warnings=False)


def with_blocks(text: str, compiled: CompiledKernel) -> str:
    """Return a page with the views that its generated blocks name; blocks of another kind stay."""

    def filled(match: re.Match[str]) -> str:
        name = match[2]
        shown = view(compiled.inspect(), name)
        lines = "\n".join(line for line in shown.splitlines() if line != compiled.name)
        return f"{match[1]}{lines}\n{match[3]}"

    names = "lines|pressure|memory|waits|occupancy"
    pattern = rf"(<!-- generated: ({names}) -->\n```\n).*?(```\n<!-- end -->)"
    return re.sub(pattern, filled, text, flags=re.DOTALL)
