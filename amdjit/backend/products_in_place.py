"""Keep gfx11's matrix products where all lanes of the wave run.

    %d = call <8 x i32> @llvm.amdgcn.wmma...
->
    %d = call <8 x i32> @llvm.amdgcn.wmma...
    call void (...) @llvm.fake.use(<8 x i32> %d)

LLVM 22 moves a product of gfx11 that only one branch uses into that branch, where some lanes may be
inactive: its machine instruction has lost the mark "convergent" that the intrinsic has. A
`fake.use` beside the product holds it back, and becomes no instruction. Other uses in its block
would not: they may move with it, except a product that adds to it, which is held back itself.
"""

from __future__ import annotations

import re

from amdjit.target import Target

__all__ = ["keep_products_in_place"]

_PRODUCT = re.compile(
    r"^  (?P<name>%\S+) = (?:tail |notail |musttail )?call (?P<type><[^>]*>) @llvm\.amdgcn\.wmma\."
)
_LABEL = re.compile(r"^[^\s;}].*:(?:\s|$)")
_DECLARATION = "declare void @llvm.fake.use(...)"


def keep_products_in_place(llvm_text: str, target: Target) -> str:
    """Return optimised IR in which no product may leave its block."""
    if target.isa[0] != 11 or "@llvm.amdgcn.wmma." not in llvm_text:
        return llvm_text
    lines: list[str] = []
    block: list[str] = []
    for line in llvm_text.split("\n"):
        if _LABEL.match(line) or line == "}":
            lines += _kept(block)
            block = []
        block.append(line)
    kept = "\n".join([*lines, *_kept(block)])
    if "@llvm.fake.use" not in kept:
        return llvm_text
    return kept if _DECLARATION in kept else f"{kept}\n{_DECLARATION}\n"


def _kept(block: list[str]) -> list[str]:
    """Return the lines of a block with a use after each product that no other one there takes."""
    kept = []
    for number, line in enumerate(block):
        kept.append(line)
        found = _PRODUCT.match(line)
        if found is None:
            continue
        use = re.compile(rf"{re.escape(found['name'])}(?![\w.$-])")
        later = (line for line in block[number + 1 :] if _PRODUCT.match(line))
        if not any(use.search(line) for line in later):
            kept.append(f"  call void (...) @llvm.fake.use({found['type']} {found['name']})")
    return kept
