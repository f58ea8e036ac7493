"""Remedies that the code shows: an update that should be atomic, a barrier that a loop lacks."""

from __future__ import annotations

import re
from collections.abc import Collection

from amdjit.isa.analysis.control_flow import Block, Graph

__all__ = ["atomic_update", "is_between_iterations"]

# The functions of `amdjit.atomic` by operator.
_FUNCTIONS = {"+": "add", "-": "sub", "&": "and_", "|": "or_", "^": "xor"}
_AUGMENTED = re.compile(r"(?P<array>[\w.]+)\[(?P<index>.+)\] (?P<sign>[-+&|^])= (?P<value>.+)")
# The value binds more tightly than the operator.
_WRITTEN_OUT = re.compile(
    r"(?P<array>[\w.]+)\[(?P<index>.+)\] = (?P=array)\[(?P=index)\] (?P<sign>[-+&|^]) "
    r"(?P<value>(?!.* (?:if|and|or|in|is) )[^-+&|^<>=]+)"
)
_COMMENT = re.compile(r"\s+#.*")
_SUBSCRIPT = re.compile(r"\[[^][]*\]")


# An update that should be atomic.


def atomic_update(source: str) -> str | None:
    """Return the atomic operation that does what a source line does that reads an element and
    writes it back, such as `bins[i] += 1`; None if it is no such line, or reads the array
    elsewhere, too."""
    text = _COMMENT.sub("", source.strip())
    found = _AUGMENTED.fullmatch(text) or _WRITTEN_OUT.fullmatch(text)
    if found is None or not _is_one_index(found["index"]):
        return None
    array, index, value = found["array"], found["index"], found["value"]
    if re.search(rf"(?<![\w.]){re.escape(array)}\[", f"{index} {value}"):
        return None
    place = f"({index})" if "," in index else index
    return f"amdjit.atomic.{_FUNCTIONS[found['sign']]}({array}, {place}, {value})"


def _is_one_index(text: str) -> bool:
    """Whether all brackets close that open in it: `i][j` is two."""
    while (shorter := _SUBSCRIPT.sub("", text)) != text:
        text = shorter
    return not set(text) & set("[]")


# A barrier that a loop lacks.


def is_between_iterations(graph: Graph, first: int, second: int, again: Collection[int]) -> bool:
    """Whether a barrier is on every path from one pc to another that comes after it in the source,
    but on some path back, to the next iteration, is none. again: the pcs of the second one's line,
    of which there are several if the loop is unrolled."""
    return (
        _is_reached(graph, first, again, stops=False)
        and not _is_reached(graph, first, again, stops=True)
        and _is_reached(graph, second, (first,), stops=True)
    )


def _is_reached(graph: Graph, start: int, ends: Collection[int], stops: bool) -> bool:
    """Whether a path leads from a pc to one of others. stops: paths end at barriers."""
    around = next(block for block in graph.blocks.values() if _has(block, start))
    seen: set[int] = set()
    open_ends = [(around, tuple(one for one in around.instructions if one.pc > start))]
    while open_ends:
        block, instructions = open_ends.pop()
        for instruction in instructions:
            if instruction.pc in ends:
                return True
            if stops and instruction.traits.waits_at_barrier:
                break
        else:
            following = [pc for pc in block.successors if pc not in seen]
            seen.update(following)
            open_ends += [(graph.blocks[pc], graph.blocks[pc].instructions) for pc in following]
    return False


def _has(block: Block, pc: int) -> bool:
    return any(one.pc == pc for one in block.instructions)
