"""What an opcode does, in words: the sentence of each operation, found by its name.

A phrase has places for operands: `{d}` for the first that is written and `{e}` for the second;
`{a}`, `{b}`, `{c}`, `{m}` for those that are only read, in the order of the opcode's row, in memory
instructions for the data; `{k}` for the immediate, `{target}` for the address of a jump. `$name` in
a row is what its pattern's group of that name has matched. Source: RDNA 4 ISA, chapter 16.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from string import Template

from amdjit.isa.mnemonics.memory_phrases import MEMORY_PHRASES
from amdjit.isa.mnemonics.scalar_phrases import SCALAR_PHRASES
from amdjit.isa.mnemonics.vector_phrases import VECTOR_PHRASES

__all__ = ["phrase_of"]


@cache
def phrase_of(operation: str) -> str:
    """Return the phrase of an operation, as `Traits.operation` names it; "" if its traits say all
    of it."""
    for pattern, phrase in _rows():
        match = re.fullmatch(pattern, operation)
        if match is not None:
            groups = {name: text or "" for name, text in match.groupdict().items()}
            return Template(phrase).substitute(groups)
    return ""


def _rows() -> Iterator[tuple[str, str]]:
    return chain(SCALAR_PHRASES, VECTOR_PHRASES, MEMORY_PHRASES)
