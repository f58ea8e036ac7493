"""What intrinsics are declared with, under its public name: `from amdjit.declarations import Emit`.

It is defined in `amdjit.language.declarations`, which amdjit's own modules import.
"""

from amdjit.language.declarations import *  # noqa: F403
