"""Assembly text to objects, for kernels with inline assembly."""

from __future__ import annotations

from amdjit.backend.tools import Assembler, find_assembler, run_tool
from amdjit.target import TRIPLE, Target

__all__ = ["Assembler", "assemble", "find_assembler"]


def assemble(text: str, target: Target, wave_size: int, assembler: Assembler) -> bytes:
    """Return the object of LLVM's assembly text; BackendError with the assembler's words."""
    options = [
        "-triple",
        TRIPLE,
        "-target-cpu",
        target.name,
        "-filetype",
        "obj",
        "-mrelocation-model",
        "pic",
    ]
    if wave_size == 64:
        options += ["-target-feature", "+wavefrontsize64"]
    for name, is_on in target.settings:
        options += ["-target-feature", f"{'-+'[is_on]}{name}"]
    return run_tool([*assembler.command, *options], "assembling", text.encode(), ".s")
