"""What the modules of the commands share."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from typing import TypeAlias

from amdjit.diagnostics import AmdjitError

__all__ = ["Commands", "answered"]

# What `ArgumentParser.add_subparsers` returns; argparse has no public name for it.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_MISTAKE = 2


def answered(
    run: Callable[[argparse.Namespace], int],
) -> Callable[[argparse.Namespace], int]:
    """Let what a command runs end with status 2 if it comes to no answer: 0 and 1 are answers.

    An exception of the user's own file or program is printed as Python would.
    """

    def asked(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except AmdjitError as error:
            print(error, file=sys.stderr)
        except BrokenPipeError:
            raise
        except Exception:
            traceback.print_exc()
        return _MISTAKE

    return asked
