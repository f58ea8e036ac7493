"""Which compiled code runs on a device, and which is nearest if none does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from amdjit.target import TARGETS, Target, with_settings

__all__ = ["compatible_targets", "conflict", "nearest", "why_not"]

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
