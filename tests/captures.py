"""The captures of real chips in tests/hardware: their rows, generators of inputs, and digests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).with_name("hardware")

Array = np.ndarray[Any, Any]


@cache
def capture(name: str) -> Any:
    """Return a file of captures."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def bits(values: Any, width: int) -> Array:
    """Return hexadecimal texts, nested in lists, as unsigned integers of that many bits."""
    words = np.vectorize(lambda text: int(text, 16), otypes=[np.uint64])(np.array(values))
    return np.asarray(words.astype(f"u{width // 8}"))


def numbers(texts: Sequence[str]) -> list[int]:
    """Return the numbers of hexadecimal texts."""
    return [int(text, 16) for text in texts]


def digest(words: Iterable[int] | Array) -> str:
    """Return FNV-1a of 64 bits over 32-bit words, low bytes first: of registers lane by lane."""
    total = 14695981039346656037
    for byte in np.array(list(words), np.uint32).astype("<u4").tobytes():
        total = (total ^ byte) * 1099511628211 % 2**64
    return f"{total:#018x}"


def xorshift32(seed: int) -> Iterator[int]:
    """Yield the numbers of the captures' generator."""
    state = seed
    while True:
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        yield state
