"""What the modules of the commands share."""

from __future__ import annotations

import argparse
from typing import TypeAlias

__all__ = ["Commands"]

# What `ArgumentParser.add_subparsers` returns; argparse has no public name for it.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
