"""A kernel compiled for several targets: one file from which a device takes its code."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING

from amdjit.compiled_kernel import CompiledKernel
from amdjit.late import late
from amdjit.late_methods import dataclass
from amdjit.options import OptionError, named_target
from amdjit.target import TARGETS, Target, with_settings

if TYPE_CHECKING:
    from amdjit.code_object import bundles
else:
    bundles = late("amdjit.code_object.bundles")

__all__ = [
    "CompiledBundle",
    "bundled_targets",
    "compatible_targets",
    "conflict",
    "nearest",
    "why_not",
]


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


# Which compiled code runs on a device, and which is nearest if none does.


# ROCm's documentation, "GPU memory" > "Unified memory": what turns XNACK on in a process.
_XNACK_VARIABLE = "HSA_XNACK"


def compatible_targets(device: Target) -> Iterator[Target]:
    """Return the targets whose code runs on a device, the most specific first."""
    own = dataclasses.replace(device, settings=())
    there = dict(device.settings)
    for row in (own, *(each for each in TARGETS if device.name in each.members)):
        # A device that does not tell a setting runs the code for either.
        values = [(there[n], None) if n in there else (None, False, True) for n in row.id_features]
        for chosen in product(*values):
            settings = zip(row.id_features, chosen, strict=True)
            yield with_settings(row, {name: is_on for name, is_on in settings if is_on is not None})


def conflict(targets: Sequence[Target]) -> tuple[Target, Target] | None:
    """Return two targets that cannot be in one bundle: of one processor, with settings of different
    features, or the same (Clang documentation, "Clang Offload Bundler", "Target ID")."""
    for first, second in combinations(targets, 2):
        if first.name == second.name and (
            first == second or dict(first.settings).keys() != dict(second.settings).keys()
        ):
            return first, second
    return None


def nearest(codes: Iterable[Target], device: Target) -> Target:
    """Return the target nearest to a device's: by settings, then by the version of the ISA."""

    def distance(code: Target) -> tuple[bool, list[int], int]:
        steps = [abs(a - b) for a, b in zip(code.isa, device.isa, strict=True)]
        differing = len(set(code.settings) - set(device.settings))
        return device.name not in code.processors, steps, differing

    return min(codes, key=distance)


def why_not(code: Target, device: Target, name: str) -> str:
    """Return why a device of this name does not run code, with what the user can do about it.

    Empty if it does.
    """
    if device.name not in code.processors:
        return f"{name} is a {device}: compile for {device.name}, too"
    there = dict(device.settings)
    for feature, is_on in code.settings:
        if there.get(feature, is_on) != is_on:
            remedy = f"compile for {device.name} without {feature}, or for {device}"
            if feature == "xnack":
                remedy += f", or set {_XNACK_VARIABLE}={int(is_on)} before the program starts"
            return f"{name} runs with {feature}{'-+'[there[feature]]}: {remedy}"
    return ""
