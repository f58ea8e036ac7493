"""The machine that is examined: its files, its user, the settings of its environment."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from amdjit.late_methods import dataclass
from amdjit.options import Environment, OptionError, read_environment

__all__ = ["Machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """The parts of a machine that questions are about."""

    root: Path
    """The folder whose dev, sys, proc and etc are read."""
    system: str
    """"linux", "win32" or "darwin", as sys.platform has it."""
    processor: str
    """The host's processor, such as "x86_64"."""
    variables: Mapping[str, str]
    """The environment variables."""
    groups: frozenset[int]
    """The numbers of the groups that this process is in."""
    home: str
    """The user's home folder, which is shown as `~`."""

    @staticmethod
    def here() -> Machine:
        """Return the machine that this process runs on."""
        has_groups = hasattr(os, "getgroups")
        return Machine(
            root=Path("/"),
            system=sys.platform,
            processor=platform.machine(),
            variables=dict(os.environ),
            groups=frozenset([*os.getgroups(), os.getegid()] if has_groups else ()),
            home=str(Path("~").expanduser()),
        )

    @property
    def is_linux(self) -> bool:
        """Whether it runs Linux, where AMD's driver has files in /dev and /sys."""
        return self.system == "linux"

    @property
    def has_hip_python(self) -> bool:
        """Whether hip-python has packages for this kind of machine (pyproject.toml,
        dependencies)."""
        return self.is_linux and self.processor in ("x86_64", "AMD64")

    def environment(self) -> Environment:
        """Return amdjit's settings. If one of its variables cannot be read, all but the cache
        folder are the defaults."""
        try:
            return read_environment(self.variables)
        except OptionError:
            return read_environment(
                {
                    name: value
                    for name, value in self.variables.items()
                    if not name.startswith("AMDJIT_") or name == "AMDJIT_CACHE_DIR"
                }
            )

    def text(self, path: str) -> str:
        """Return the text of a file below the root, empty if it cannot be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return ""

    def shown(self, text: str) -> str:
        """Return text in which the user's home folder is written as `~`, so that paths do not
        contain the user's name."""
        if len(self.home) < 2:
            return text
        return re.sub(rf"{re.escape(self.home)}(?![\w.-])", "~", text)

    def may_open(self, path: Path) -> bool:
        """Return whether this process may read and write a file."""
        effective = os.access in os.supports_effective_ids
        return os.access(path, os.R_OK | os.W_OK, effective_ids=effective)
