"""`isa`: returns the machine code of any object that has some."""

from __future__ import annotations

import os
from pathlib import Path

from amdjit.api import Kernel
from amdjit.compiled_kernel import CompiledKernel
from amdjit.inspection.inspection import Inspection
from amdjit.inspection.reading import inspect_object
from amdjit.testing.assertions import Code
from amdjit.testing.parts import whole_part

__all__ = ["Subject", "isa"]

Subject = CompiledKernel | Inspection | Kernel | bytes | os.PathLike[str]


def isa(subject: Subject, kernel: str | None = None) -> Code:
    """Return the machine code of a kernel, for assertions about it.

    subject: a compiled kernel; a kernel that was compiled or launched for one combination of types;
    an inspection; the bytes or the file of any compiler's code object. kernel: the name of the
    kernel in a code object that has several.

    TypeError for anything else; ValueError for a kernel with no specialisation or several;
    MalformedCodeObject and AmdjitError as `amdjit.inspect_object`.
    """
    inspection = _inspection(subject, kernel)
    return Code(inspection, whole_part(inspection))


def _inspection(subject: Subject, kernel: str | None) -> Inspection:
    if isinstance(subject, Inspection):
        return subject
    if isinstance(subject, CompiledKernel):
        return subject.inspect()
    if isinstance(subject, Kernel):
        return _only(subject).inspect()
    if isinstance(subject, os.PathLike):
        return inspect_object(Path(subject).read_bytes(), kernel)
    if isinstance(subject, bytes):
        return inspect_object(subject, kernel)
    raise TypeError(
        f"isa() takes a compiled kernel, an inspection or a code object, not {subject!r}"
    )


def _only(kernel: Kernel) -> CompiledKernel:
    compiled = kernel.specialisations
    if len(compiled) != 1:
        signatures = ", ".join(one.signature for one in compiled) or "none"
        raise ValueError(
            f"{kernel.__name__} is compiled for {len(compiled)} combinations of types "
            f"({signatures}); pass one of them: isa({kernel.__name__}.compile(...))"
        )
    return compiled[0]
