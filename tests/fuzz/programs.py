"""Random programs of the kernel language as Python source: every expression has a known type."""

from __future__ import annotations

from hypothesis import strategies as st

from amdjit.types import i32
from tests.fuzz.choices import Choices
from tests.fuzz.program_loops import WEAK_HELPERS
from tests.fuzz.program_memories import Memories
from tests.fuzz.program_types import PARAMETERS, PYTHON_NUMBERS


class Writer(Memories):
    """Writes statements."""

    def statement(self, indent: int, depth: int) -> None:
        """Write any statement."""
        makers = [self.assign_new, self.assign_old, self.update, self.joined]
        makers += [self.assign_record] * 3 if self.records else []
        makers += (
            [self.store, self.store, self.update_element, self.set_item, self.memory]
            if self.arrays
            else []
        )
        if depth > 0:
            makers += [
                self.branch,
                self.for_loop,
                self.while_loop,
                self.first_in_rounds,
                self.first_in_rounds,
                self.static_loop,
                self.element_loop,
                self.swap,
            ]
            makers += [self.weak_integers, self.weak_floats] if self.arrays else []
        makers += [self.leave_program] if self.arrays and depth < 2 else []
        if self.loops and self.chance(15):
            makers = [self.leave]
        self.pick(*makers)(indent, depth)


def program(data: bytes, make: type[Writer] = Writer, own: str = "i, u") -> str:
    """Write a program: records, helpers, and a function `program(i, u, a_i8, ..., o_i8, ...)`.

    own: its first parameters.
    """
    writer = make(Choices(data))
    if writer.chance(30):
        writer.record()
    for _ in range(writer.pick(0, 0, 1, 2)):
        writer.pick(writer.helper, writer.helper, writer.filler, writer.taker)()
    arrays = [f"{kind}_{type}" for kind in "ao" for type in PARAMETERS]
    writer.line(0, f"def program({own}, {', '.join([*arrays, *PYTHON_NUMBERS])}):")
    writer.names |= {"i": i32, "u": i32}
    if writer.records:
        writer.assign_record(1, 2)
    for _ in range(6):
        if not writer.choices.is_used_up:
            writer.statement(1, 2)
    writer.store(1, 0)
    writer.show(1)
    lines = "\n".join(writer.lines) + "\n"
    return "".join(text for name, text in WEAK_HELPERS.items() if f"{name}(" in lines) + lines


def programs(size: int = 100) -> st.SearchStrategy[str]:
    """Draw programs that are written from a number of bytes."""
    return st.binary(min_size=size, max_size=size).map(program)
