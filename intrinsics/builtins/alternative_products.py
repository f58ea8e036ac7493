"""Which matrix instruction of another processor multiplies the same types, by clang's names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["multiplied", "nearest_product"]

_NAME = re.compile(
    r"(?:wmma|mfma|swmmac|smfmac)(?:_scale(?:16)?)?_(?P<result>[a-z0-9]+?)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_?"
    r"(?P<types>.*?)(?:_1k|_tied)?(?:_w(?P<wave>32|64))?(?:_gfx12)?"
)


@dataclass(frozen=True, slots=True)
class _Product:
    result: str
    size: tuple[int, int]
    k: int
    types: str
    wave: str | None


def _product(name: str) -> _Product | None:
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    types = re.sub(r"iu(?=\d)", "i", found["types"])
    return _Product(
        found["result"], (int(found["m"]), int(found["n"])), int(found["k"]), types, found["wave"]
    )


def multiplied(name: str) -> str:
    """Return the types that a matrix instruction multiplies, as its name spells them: f16, fp8_bf8,
    i8."""
    product = _product(name)
    return product.types if product is not None else ""


def nearest_product(name: str, names: Iterable[str]) -> str | None:
    """Return the candidate that multiplies the same types and is closest in result, size and
    wave."""
    wanted = _product(name)
    if wanted is None:
        return None

    def unlikeness(other: str) -> tuple[bool, bool, bool, bool, float, str]:
        product = _product(other)
        assert product is not None
        further = abs(math.log2(product.k / wanted.k))
        return (
            product.result != wanted.result,
            product.size != wanted.size,
            None not in (product.wave, wanted.wave) and product.wave != wanted.wave,
            ("_tied" in name) != ("_tied" in other),
            further,
            other,
        )

    return min(
        (other for other in names if multiplied(other) == wanted.types),
        key=unlikeness,
        default=None,
    )
