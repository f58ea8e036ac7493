"""What a build is, as JSON for other programs; `metadata_schema.json` is its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from amdjit.ahead_of_time.built_targets import BuiltTarget
from amdjit.ahead_of_time.c_checks import relied_on
from amdjit.ahead_of_time.interface import CompiledIn, Group, Interface, MachineValue, Parameter
from amdjit.types import Array

__all__ = ["FORMAT", "metadata_text"]

FORMAT = 1
"""The version of the JSON: it changes if a program that reads it has to."""


def metadata_text(
    name: str,
    interface: Interface,
    targets: Sequence[BuiltTarget],
    options: Mapping[str, Any],
    files: Sequence[str],
) -> str:
    """Return the JSON of a build. options: those that were given, by name."""
    content = {
        "format": FORMAT,
        "name": name,
        "symbol": interface.kernel,
        "signature": interface.signature,
        "options": {key: _plain(options[key]) for key in sorted(options)},
        "files": list(files),
        "parameters": [_parameter(each) for each in interface.parameters],
        "kernarg": {
            "bytes": interface.kernarg_bytes,
            "values": [_value(value) for value in interface.values],
        },
        "targets": [_target(target) for target in targets],
    }
    return json.dumps(content, indent=2) + "\n"


def _plain(value: Any) -> Any:
    """Return an option as JSON has it."""
    if isinstance(value, (set, frozenset, list, tuple)):
        return sorted(value) if isinstance(value, (set, frozenset)) else list(value)
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _parameter(parameter: Parameter) -> dict[str, Any]:
    if isinstance(parameter, CompiledIn):
        return {"name": parameter.name, "kind": "compiled in", "value": parameter.text}
    common = {
        "name": parameter.name,
        "type": str(parameter.type),
        "member": ".".join(parameter.path),
    }
    if isinstance(parameter, Group):
        return {**common, "kind": "tuple", "parts": [_parameter(each) for each in parameter.parts]}
    if not isinstance(parameter.type, Array):
        return {**common, "kind": "value", "used": parameter.used}
    return {
        **common,
        "kind": "array",
        "axes": parameter.type.ndim,
        "has_strides": parameter.type.layout.has_strides,
        "written": parameter.written,
        "relies_on": relied_on(parameter),
    }


def _value(value: MachineValue) -> dict[str, Any]:
    is_address = value.part in ("data", "record")
    return {
        "name": value.member,
        "offset": value.offset,
        "bytes": value.nbytes,
        "type": "address" if is_address else str(value.type),
        "of": value.leaf.name or None,
        "part": value.part,
        "axis": value.axis if value.part in ("extent", "stride") else None,
    }


def _target(target: BuiltTarget) -> dict[str, Any]:
    return {
        "id": target.id,
        "bytes": len(target.code_object),
        "sha256": target.digest,
        "required_block": list(target.required_block) if target.required_block else None,
        **dict(target.numbers),
    }
