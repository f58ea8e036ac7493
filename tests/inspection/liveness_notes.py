"""What programs note of live registers: `;; live v1 s4` and `;; dead v2` in their text."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """What a program says of the place before its instruction of that number."""

    instruction: int
    live: frozenset[str]
    dead: frozenset[str]


def notes(start: str, body: str) -> list[Note]:
    """Return the notes of a program, whose instructions count from those of its start on."""
    found: list[Note] = []
    number = len(start.strip().splitlines())
    live: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()
    for line in map(str.strip, body.splitlines()):
        match = re.match(r";; (live|dead) (.*)", line)
        if match:
            names = frozenset(match[2].split())
            live, dead = (live | names, dead) if match[1] == "live" else (live, dead | names)
        elif line and not line.endswith(":") and not line.startswith("."):
            if live or dead:
                found.append(Note(number, live, dead))
            live = dead = frozenset()
            number += 1
    return found
