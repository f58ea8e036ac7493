"""Optimised IR to an unlinked object, by way of an assembler where LLVM alone cannot make one."""

from __future__ import annotations

from amdjit.backend.assembler import assemble, find_assembler
from amdjit.backend.guarded import emit_object_or_assembly
from amdjit.options import CompileOptions, Environment
from amdjit.target import Target

__all__ = ["emit_object"]


def emit_object(
    llvm_text: str, target: Target, options: CompileOptions, environment: Environment | None = None
) -> bytes:
    """Return the relocatable ELF of optimised IR; BackendError in LLVM's or the assembler's words.

    IR with inline assembly goes through an assembler, which `environment` may name; all other IR
    through LLVM alone.
    """
    emitted = emit_object_or_assembly(llvm_text, target, options, environment)
    if isinstance(emitted, bytes):
        return emitted
    return assemble(
        emitted, target, options.wave_size, find_assembler(environment or Environment())
    )
