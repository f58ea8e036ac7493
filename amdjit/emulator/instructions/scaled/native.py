"""Conversions with a scale as functions of 32 lanes: instructions call them for each number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from amdjit.emulator.host.function import V32, NativeFunction, i32
from amdjit.isa.floats.scaled import (
    MANTISSAS,
    SMALL_FLOATS,
    narrow,
    to_single,
    widen,
)

_EIGHT_BITS = ("fp8", "bf8")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A conversion to few bits: of which wide format, to which small one, and whether random bits
    round it."""

    of: str
    to: str
    is_random: bool

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_narrow_{self.to}_{self.of}{'_sr' if self.is_random else ''}"

    @property
    def overflows(self) -> bool:
        """Whether MODE's FP16_OVFL applies (CDNA 4 ISA, 7.3: to 8 bits only)."""
        return self.to in _EIGHT_BITS


@dataclass(frozen=True, slots=True)
class Widening:
    """A conversion from few bits."""

    of: str
    to: str

    @property
    def symbol(self) -> str:
        """The name of its native function."""
        return f"aj_widen_{self.to}_{self.of}"


def narrowings() -> Iterator[Narrowing]:
    """Yield every conversion to few bits."""
    for to in SMALL_FLOATS:
        for of in MANTISSAS:
            yield from (Narrowing(of, to, is_random) for is_random in (False, True))


def widenings() -> Iterator[Widening]:
    """Yield every conversion from few bits."""
    for of in SMALL_FLOATS:
        yield from (Widening(of, to) for to in MANTISSAS)


def narrow_text(conversion: Narrowing, attributes: str) -> str:
    """Return `(bits, scale[, random][, clamps])`: the code of numbers given by their bits."""
    parameters = [(V32, "bits"), (V32, "scale")]
    parameters += [(V32, "random")] * conversion.is_random
    parameters += [("i32", "clamps")] * conversion.overflows
    f = NativeFunction(conversion.symbol, V32, parameters)
    clamps = f.compare("ne", f.parameter("clamps"), i32(0)) if conversion.overflows else False
    code = narrow(
        f,
        to_single(f, f.parameter("bits"), conversion.of),
        SMALL_FLOATS[conversion.to],
        scale=f.parameter("scale"),
        random=f.parameter("random") if conversion.is_random else None,
        mantissa=MANTISSAS[conversion.of],
        clamps=clamps,
    )
    f.give(code)
    return f.text(attributes)


def widen_text(conversion: Widening, attributes: str) -> str:
    """Return `(code, scale)`: the bits of the wide number."""
    f = NativeFunction(conversion.symbol, V32, [(V32, "code"), (V32, "scale")])
    form = SMALL_FLOATS[conversion.of]
    f.give(widen(f, f.parameter("code"), form, f.parameter("scale"), conversion.to))
    return f.text(attributes)


def scaled_sources() -> Mapping[str, Callable[[str], str]]:
    """Return the function that makes each native function's text."""
    return {
        **{each.symbol: partial(narrow_text, each) for each in narrowings()},
        **{each.symbol: partial(widen_text, each) for each in widenings()},
    }
