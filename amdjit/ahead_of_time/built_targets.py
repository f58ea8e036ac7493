"""The code of a build for one processor: its needs and limits, read from the code object."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from amdjit.compiled_kernel import CompiledKernel
from amdjit.target import Target

__all__ = ["BuiltTarget", "built_target"]


@dataclass(frozen=True)
class BuiltTarget:
    """A code object and what it needs."""

    target: Target
    code_object: bytes
    wave_size: int
    max_block: int
    """The most work-items that a workgroup may have."""
    required_block: tuple[int, int, int] | None
    """The exact shape of a workgroup; None if any is right."""
    lds_bytes: int
    """Bytes of static LDS of a workgroup."""
    lds_limit: int
    """The most bytes of LDS with dynamic LDS included."""
    vgprs: int
    """VGPRs of a wave, including spilled ones."""
    sgprs: int
    """SGPRs of a wave, including spilled ones."""
    vgpr_spills: int
    sgpr_spills: int
    scratch_bytes: int
    """Private memory of a work-item, in bytes."""

    @property
    def id(self) -> str:
        """The target id."""
        return self.target.id

    @property
    def digest(self) -> str:
        """The SHA-256 of the code object, in hexadecimal digits."""
        return hashlib.sha256(self.code_object).hexdigest()

    @property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        """The numbers by the names that they have in C and JSON."""
        names = (
            "wave_size", "max_block", "lds_bytes", "lds_limit", "vgprs", "sgprs", "vgpr_spills",
            "sgpr_spills", "scratch_bytes",
        )  # fmt: skip
        return tuple((name, getattr(self, name)) for name in names)


def built_target(compiled: CompiledKernel, code_object: bytes) -> BuiltTarget:
    """Return what a compiled kernel needs. code_object: the code object that is delivered."""
    metadata = compiled.linked.kernels[compiled.name].metadata
    target = compiled.target
    return BuiltTarget(
        target=target,
        code_object=code_object,
        wave_size=metadata.wave_size,
        max_block=min(metadata.max_flat_workgroup_size, target.max_workgroup_size),
        required_block=metadata.required_workgroup_size,
        lds_bytes=metadata.group_segment_bytes,
        lds_limit=target.lds_per_workgroup,
        vgprs=metadata.vgpr_count,
        sgprs=metadata.sgpr_count,
        vgpr_spills=metadata.vgpr_spills,
        sgpr_spills=metadata.sgpr_spills,
        scratch_bytes=metadata.private_segment_bytes,
    )
