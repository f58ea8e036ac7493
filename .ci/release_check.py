"""Say whether a tag is what this checkout would release: `python .ci/release_check.py v0.1.0`.

The version stands in amdjit/__init__.py. The newest section of CHANGELOG.md is this version's, with
its date; the recipe for conda and CITATION.cff name it too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "amdjit/__init__.py": r'^__version__ = "(.+)"$',
    "CHANGELOG.md": r"^## (\S+) \(.+\)$",
    ".ci/conda/recipe.yaml": r"^  version: (\S+)$",
    "docs/CITATION.cff": r"^version: (\S+)$",
}


def first(file: str, pattern: str) -> str:
    """Return what a pattern first finds in a file of the project."""
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "none"


def versions() -> dict[str, str]:
    """Return the version that each file names."""
    return {file: first(file, pattern) for file, pattern in PLACES.items()}


def objections(tag: str) -> list[str]:
    """Return why this checkout is not what a tag says, in a sentence each."""
    wanted = tag.removeprefix("v")
    wrong = [f"{file} says {found}" for file, found in versions().items() if found != wanted]
    date = first("CHANGELOG.md", r"^## \S+ \((.+)\)$")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
        wrong.append(f"CHANGELOG.md has no date for the version, but says: {date}")
    return wrong


if __name__ == "__main__":
    found = objections(sys.argv[1])
    print("\n".join(found) or f"{sys.argv[1]} can be released")
    sys.exit(bool(found))
