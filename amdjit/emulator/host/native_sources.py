"""The interface by which the rooms of the emulator list their native functions.

Each room that has native functions defines one `NATIVES` of this type in its `native_sources.py`.
`emulator/native_sources.py` lists those that every launch may need; those of the checks come with
the first checked launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from amdjit.late_methods import dataclass

# Returns a function's IR text; the argument is the attributes that every function has.
Source = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Variant:
    """What a function's text may depend on in addition to its symbol.

    matrix_rows: accumulators that fit host registers. arithmetic: "silicon" or "fma", of float
    matrix and dot products. math: "silicon" or "fast", of approximate instructions.
    """

    matrix_rows: int
    arithmetic: str = "silicon"
    math: str = "silicon"

    @property
    def is_wide(self) -> bool:
        """Whether the host has AVX-512, whose 32 registers hold 16 accumulators."""
        return self.matrix_rows == 16

    @property
    def identity(self) -> str:
        """The variant as part of the cache's key."""
        return f"{self.matrix_rows} {self.arithmetic} {self.math}"


def _nothing(variant: Variant) -> Mapping[str, Source]:
    return {}


@dataclass(frozen=True, slots=True, eq=False)
class NativeSources:
    """The native functions of one room, by symbol.

    functions: those whose text is always the same. in_variant: returns those whose text depends on
    the variant.
    """

    functions: Mapping[str, Source]
    in_variant: Callable[[Variant], Mapping[str, Source]] = _nothing

    def makers(self, variant: Variant) -> Mapping[str, Source]:
        """Return what makes the text of each function."""
        return {**self.functions, **self.in_variant(variant)}


def all_makers(rooms: Iterable[NativeSources], variant: Variant) -> dict[str, Source]:
    """Return what makes the text of each function of several rooms."""
    makers: dict[str, Source] = {}
    for room in rooms:
        makers.update(room.makers(variant))
    return makers
