"""Target ids: a processor with settings of XNACK and SRAM-ECC, such as `gfx90a:sramecc+:xnack-`.

Code without a setting runs where the feature is on and where it is off. Names, order and the rule
of what runs where: LLVM AMDGPU guide, "Target ID".
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from amdjit.target import TARGETS, Target, find_target

__all__ = [
    "compatible_targets",
    "conflict",
    "device_target",
    "feature_string",
    "most_specific",
    "nearest",
    "read_target",
    "runs_on",
    "why_not",
    "with_settings",
]

_SETTING = re.compile(r"([a-z0-9]+)([+-])")
# ROCm's documentation, "GPU memory" > "Unified memory": what turns XNACK on in a process.
_XNACK_VARIABLE = "HSA_XNACK"


def read_target(text: str) -> Target:
    """Return the target of an id, whose settings may be in any order; ValueError says what is wrong
    with it, and what would be right."""
    name, *parts = text.split(":")
    row = find_target(name)
    if row is None:
        raise ValueError(
            f"unknown target {text!r}: amdjit has {', '.join(each.name for each in TARGETS)}"
        )
    settings: dict[str, bool] = {}
    for part in parts:
        found = _SETTING.fullmatch(part)
        if found is None:
            raise ValueError(
                f"{text!r} is no target id: after the processor come settings such as "
                f"{_example(row)}"
            )
        feature, sign = found.groups()
        if feature not in row.id_features:
            raise ValueError(f"{text!r}: {_without(row, feature)}")
        if feature in settings:
            raise ValueError(f"{text!r}: {feature} is set twice; give one of both")
        settings[feature] = sign == "+"
    return with_settings(row, settings)


def with_settings(row: Target, settings: dict[str, bool]) -> Target:
    """Return a processor with settings of its features, in canonical order."""
    ordered = tuple((name, settings[name]) for name in row.id_features if name in settings)
    return dataclasses.replace(row, settings=ordered) if ordered else row


def device_target(architecture: str) -> Target | None:
    """Return the target of a GPU by HIP's name of it, or None for an unknown processor.

    What is not a setting of the processor's in amdjit's table is left out: code cannot ask for it.
    """
    name, *parts = architecture.split(":")
    row = find_target(name)
    if row is None:
        return None
    found = [match for part in parts if (match := _SETTING.fullmatch(part))]
    return with_settings(row, {each[1]: each[2] == "+" for each in found})


def runs_on(code: Target, device: Target) -> bool:
    """Whether a device runs code of a target: of its processor, with no setting of another value.

    A device without a setting, as emulators are, runs the code of both.
    """
    there = dict(device.settings)
    return code.name == device.name and all(
        there.get(name, is_on) == is_on for name, is_on in code.settings
    )


def most_specific(codes: Iterable[Target], device: Target) -> Target | None:
    """Return the target of most settings among those that a device runs: as HIP chooses."""
    found = [code for code in codes if runs_on(code, device)]
    return max(found, key=lambda code: len(code.settings), default=None)


def compatible_targets(device: Target) -> Iterator[Target]:
    """Give the targets whose code a device runs, what is made for it first."""
    row = dataclasses.replace(device, settings=())
    there = dict(device.settings)
    # A device without a setting runs the code of both.
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
    """Return the target that is most like a device's: by settings, then by the ISA's version."""

    def distance(code: Target) -> tuple[bool, list[int], int]:
        steps = [abs(a - b) for a, b in zip(code.isa, device.isa, strict=True)]
        differing = len(set(code.settings) - set(device.settings))
        return code.name != device.name, steps, differing

    return min(codes, key=distance)


def why_not(code: Target, device: Target, name: str) -> str:
    """Return why a device of this name does not run code, with what the user can do about it.

    Empty if it does.
    """
    if code.name != device.name:
        return f"{name} is a {device}: compile for {device.name}, too"
    there = dict(device.settings)
    for feature, is_on in code.settings:
        if there.get(feature, is_on) != is_on:
            remedy = f"compile for {device.name} without {feature}, or for {device}"
            if feature == "xnack":
                remedy += f", or set {_XNACK_VARIABLE}={int(is_on)} before the program starts"
            return f"{name} runs with {feature}{'-+'[there[feature]]}: {remedy}"
    return ""


def feature_string(target: Target) -> str:
    """Return the settings as LLVM's subtarget features: `+sramecc,-xnack`."""
    return ",".join(f"{'-+'[is_on]}{name}" for name, is_on in target.settings)


def _example(row: Target) -> str:
    """Return a target id of a processor, or the name where there are no settings."""
    if not row.id_features:
        return f"`:xnack+`, which {row.name} has none of: write {row.name}"
    return row.name + "".join(f":{name}+" for name in row.id_features)


def _without(row: Target, feature: str) -> str:
    having = [each.name for each in TARGETS if feature in each.id_features]
    if not having:
        known = sorted({name for each in TARGETS for name in each.id_features})
        return f"a target id has no {feature}; it has {' and '.join(known)}"
    return (
        f"{row.name} has no setting of {feature}: write {_plain(row)}; {', '.join(having)} have one"
    )


def _plain(row: Target) -> str:
    others = [f"{name}+" for name in row.id_features]
    return ":".join([row.name, *others]) if others else row.name
