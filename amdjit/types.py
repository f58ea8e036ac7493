"""The types of the kernel language, under their public name: `from amdjit.types import f32`.

They are defined in `amdjit.language.types`, which amdjit's own modules import.
"""

from amdjit.language.types import *  # noqa: F403
