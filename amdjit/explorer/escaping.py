"""Text of others inside HTML: source lines, symbol names and file names may hold anything.

The page's scripts put text into the document as text nodes only; what Python itself writes passes
through here.
"""

from __future__ import annotations

import html
import json
from typing import Any

__all__ = ["in_html", "in_script"]

# A script element ends at the first `</script`, and `<!--` in it changes how it is read: none of
# these characters stands in the data itself.
_IN_SCRIPT = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def in_html(text: str) -> str:
    """Return text for use between tags, or in an attribute's value in double quotes."""
    replaced = text.encode("utf-8", "replace").decode("utf-8")
    return html.escape(replaced.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def in_script(value: Any) -> str:
    """Return a value as JSON for the inside of a script element. Raises ValueError for NaN and
    infinities, which JSON does not have."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_IN_SCRIPT)
