"""A cache of host object code on disk. A broken or missing entry is a miss; writing is atomic and may fail."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST = 32


class ObjectCache:
    """Files named by a key's hash, each a SHA-256 digest followed by the content that it is of."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory

    def _path(self, key: bytes) -> Path | None:
        if self._directory is None:
            return None
        return self._directory / "emulator" / hashlib.sha256(key).hexdigest()

    def read(self, key: bytes) -> bytes | None:
        """Return the content stored under `key`, or None."""
        path = self._path(key)
        if path is None:
            return None
        try:
            stored = path.read_bytes()
        except OSError:
            return None
        content = stored[_DIGEST:]
        # The key goes into the digest: a renamed file must not answer for another key.
        return content if hashlib.sha256(key + content).digest() == stored[:_DIGEST] else None

    def write(self, key: bytes, content: bytes) -> None:
        """Store content. A full or read-only disk only costs the next process the compilation."""
        path = self._path(key)
        if path is None:
            return
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(key + content).digest() + content)
                Path(name).replace(path)
            except OSError:
                Path(name).unlink(missing_ok=True)
