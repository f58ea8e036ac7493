"""A kernel compiled for several targets: one file from which a device takes its code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.compiled_kernel import CompiledKernel
from amdjit.late import late
from amdjit.launching.compatibility import conflict
from amdjit.options import OptionError, named_target
from amdjit.target import Target

if TYPE_CHECKING:
    from amdjit.code_object import bundles
else:
    bundles = late("amdjit.code_object.bundles")

__all__ = ["CompiledBundle", "bundled_targets"]


@dataclass(frozen=True, eq=False)
class CompiledBundle(Mapping[str, CompiledKernel]):
    """A kernel compiled for several targets, by their ids: `bundle["gfx1201"]`."""

    members: tuple[CompiledKernel, ...]
    """The compiled kernels, in the order of the targets."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.members[0].name

    @property
    def signature(self) -> str:
        """The kernel's name with its arguments' types."""
        return self.members[0].signature

    @property
    def targets(self) -> tuple[str, ...]:
        """The target ids that the bundle has code for."""
        return tuple(member.target.id for member in self.members)

    @property
    def bytes(self) -> bytes:
        """The bundle in clang-offload-bundler's format, which hipModuleLoadData and `amdjit.load`
        take."""
        return bundles.write_bundle([(each.target, each.code_object) for each in self.members])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bundle to a file; OSError if that fails."""
        Path(path).write_bytes(self.bytes)

    def __getitem__(self, target: str) -> CompiledKernel:
        """Return the compilation for a target id; KeyError with the ids if there is none."""
        for member in self.members:
            if member.target.id == target:
                return member
        raise KeyError(f"{target}: the bundle has {', '.join(self.targets)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"<{self.signature} for {', '.join(self.targets)}>"


def bundled_targets(names: list[str] | tuple[str, ...]) -> tuple[Target, ...]:
    """Return the targets of a bundle by their ids; OptionError if there are none, or two that
    cannot be in one bundle."""
    if not names:
        raise OptionError('target=[]: name the processors, such as target=["gfx1100", "gfx1201"]')
    targets = tuple(map(named_target, names))
    found = conflict(targets)
    if found is not None:
        first, second = found
        if first == second:
            raise OptionError(f"target={list(names)}: {first} is there twice")
        raise OptionError(
            f"target={list(names)}: a bundle cannot have both {first} and {second}, of which more "
            f"than one could run on a {first.name}: set the same features in both, or leave one out"
        )
    return targets
