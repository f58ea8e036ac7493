"""The page of the JSON forms: the fields of each record, from the docstrings of its class."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from amdjit.command_line.gate import GateRecord
from amdjit.cycles.estimate import Cycles, InstructionCycles, Segment, WaveTimeline
from amdjit.emulator.checks.waits.code_object import LocatedWait
from amdjit.emulator.checks.waits.search import MissingWait
from amdjit.inspection.causes import Cause
from amdjit.inspection.comparison import Comparison, Figure, LineGrowth
from amdjit.inspection.facts import (
    AccessFacts,
    BlockFacts,
    Call,
    InstructionFacts,
    LineFacts,
    LiveOrigin,
    LiveValue,
    LoopFacts,
    Occupancy,
    OccupancyStep,
    Peak,
    RegisterBanks,
)
from amdjit.inspection.hazards import Hazards, SpareWait
from amdjit.inspection.inspection import Inspection
from amdjit.profiling.counts import InstructionCounts, LineCounts, Roofline, Totals
from amdjit.profiling.launch_profile import IN_JSON, LaunchProfile
from amdjit.testing.differences import Change, Difference, Differences, PartDifference
from amdjit.testing.gates import Outcome

__all__ = ["INTRODUCTION", "RECORDS", "described", "documented_fields", "sections"]

# The records of each form, the outermost first.
RECORDS: Mapping[str, tuple[type, ...]] = {
    "amdjit.inspection/1": (
        Inspection,
        InstructionFacts,
        Call,
        BlockFacts,
        LoopFacts,
        LineFacts,
        Peak,
        LiveValue,
        LiveOrigin,
        Occupancy,
        OccupancyStep,
        AccessFacts,
        RegisterBanks,
    ),
    "amdjit.comparison/1": (Comparison, Figure, LineGrowth),
    "amdjit.profile/1": (LaunchProfile, Totals, Roofline, InstructionCounts, LineCounts, Cause),
    "amdjit.gate/1": (GateRecord, Outcome),
    "amdjit.hazards/1": (Hazards, LocatedWait, MissingWait, SpareWait),
    "amdjit.difference/1": (Differences, Difference, Change, PartDifference),
    "Estimates of a launch": (Cycles, InstructionCycles, WaveTimeline, Segment),
}
# These are shown with the code object, but are not facts about it.
_NOT_IN_JSON = frozenset({"companion", "code_object"})
_WORDS = {int: "number", float: "number", str: "text", bool: "true or false"}

# The meanings of fields about which the docstring of their record says nothing.
_COMMON = {
    "address": "the instruction's address, in the code object's virtual memory",
    "addresses": "the addresses of the instructions",
    "after": "the figure of the second kernel",
    "before": "the figure of the first kernel",
    "units_after": "the instructions of the second kernel by unit",
    "units_before": "the instructions of the first kernel by unit",
    "end": "the cycle after the last one",
    "executions": "how often waves executed the instruction",
    "file": "the source file",
    "function": "the function that was called",
    "line": "the line in the file, from 1",
    "name": "the name",
    "number": "the number by which others refer to it",
    "occupancy": "the waves on a SIMD, and what limits them",
    "peak": "where most VGPRs are live",
    "peak_sgprs": "the most SGPRs that are live at once",
    "peak_vgprs": "the most VGPRs that are live at once",
    "registers": "the registers that hold it, such as `v[4:7]`",
    "segments": "what it does, in order",
    "sgprs": "the SGPRs that are live there",
    "simd": "the SIMD of the WGP",
    "start": "the first cycle",
    "text": "the instruction as the assembler writes it",
    "type": "the type as the debug information calls it",
    "vgprs": "the VGPRs that are live there",
    "wave": "the wave of the workgroup",
    "waves": "the waves on a SIMD",
    "waves_per_simd": "how many waves fit on a SIMD at once",
    "what": "`issue`, or a cause of stalls",
    "workgroup": "the number of the workgroup in the grid, in which x counts fastest",
}

INTRODUCTION = (
    "This is the JSON that `to_json()` of inspections and profiles and `--json` of `amdjit "
    'inspect`, `gate` and `diff` write. The outermost object has the name of its form as "schema". '
    "The form may get new fields under the same name; if the meaning of a field changes, the name "
    "changes. Records are objects with their fields by name. Sets of registers are sorted arrays. "
    "Addresses are numbers. The entries of a table are objects with the `key` by which they are "
    "found, and the `value`. Numbers that JSON does not have (infinities, NaN) are null. "
    "[Inspection](../inspection.md) says what is exact and what is an estimate."
)

Table = Callable[[tuple[str, ...], typing.Iterable[tuple[str, ...]]], str]


def sections(table: Table) -> list[str]:
    """Return a section for each form, with a table for each record."""
    parts = []
    for form, records in RECORDS.items():
        parts.append(f"## {f'`{form}`' if '/' in form else form}")
        parts += [_record(record, table) for record in records]
    return parts


def _record(record: type, table: Table) -> str:
    if record is LaunchProfile:
        return _launch(table)
    meanings, hints = described(record), typing.get_type_hints(_with_own_docstring(record))
    rows = [
        (f"`{name}`", json_type(hints[name]), _meaning(meanings.get(name) or _COMMON[name]))
        for name in documented_fields(record)
    ]
    return "\n\n".join(
        [f"### {record.__name__}", _summary(record), table(("field", "is", "meaning"), rows)]
    )


def _meaning(text: str) -> str:
    return re.sub(r"\bNone\b", "null", text).rstrip(".")


def _launch(table: Table) -> str:
    """Return the table of what a launch has: properties, each with a docstring of its own."""
    rows = [
        (f"`{name}`", json_type(_returned(name)), _meaning(_first_line(name))) for name in IN_JSON
    ]
    text = (
        "One launch. The outermost object has them as `launches`, an array, and as `stopped` a "
        "sentence for each launch that a fault stopped, of which nothing is counted."
    )
    return "\n\n".join(["### LaunchProfile", text, table(("field", "is", "meaning"), rows)])


def _property(name: str) -> Callable[..., Any]:
    found = inspect.getattr_static(LaunchProfile, name)
    return found.fget if isinstance(found, property) else found.func  # type: ignore[no-any-return]


def _returned(name: str) -> Any:
    return typing.get_type_hints(_property(name))["return"]


def _first_line(name: str) -> str:
    return " ".join((inspect.getdoc(_property(name)) or "").split())


def documented_fields(record: type) -> list[str]:
    """Return the fields of a record that are in the JSON."""
    if record is LaunchProfile:
        return list(IN_JSON)
    names = [field.name for field in dataclasses.fields(record)]
    return [name for name in names if name not in _NOT_IN_JSON]


def _with_own_docstring(record: type) -> type:
    """`Inspection` is `KernelFacts` with methods, and inherits its fields."""
    return next(base for base in record.__mro__ if "__annotations__" in vars(base))


def _summary(record: type) -> str:
    """Return what the docstrings of a class and of its bases say of the record itself."""
    bases = [base for base in record.__mro__ if "__annotations__" in vars(base)]
    texts = [pieces[0].strip() for base in bases for pieces in _pieces(base)]
    return " ".join(text for text in texts if text)


def _pieces(record: type) -> list[list[str]]:
    """Return the parts of each paragraph of a docstring: words on the record, then names of fields
    and what they are, in turn."""
    names = "|".join(field.name for field in dataclasses.fields(record))
    pattern = rf"(?:^|(?<=[.;:] ))((?:(?:{names}), )*(?:{names})): "
    paragraphs = (inspect.getdoc(record) or "").split("\n\n")
    return [re.split(pattern, " ".join(paragraph.split())) for paragraph in paragraphs]


def described(record: type) -> dict[str, str]:
    """Return what docstrings say about each field: that of the field, or `name: text` or `name,
    name: text` in that of the class, up to the next such names. What a class says replaces what its
    base classes say."""
    found: dict[str, str] = {}
    for base in reversed(record.__mro__):
        if dataclasses.is_dataclass(base):
            found |= _described_here(base)
    return found


def _described_here(record: type) -> dict[str, str]:
    said = {
        name: meaning.strip(" ;")
        for pieces in _pieces(record)
        for group, meaning in zip(pieces[1::2], pieces[2::2], strict=True)
        for name in group.split(", ")
    }
    return said | _docstrings_of_fields(record)


def _docstrings_of_fields(record: type) -> dict[str, str]:
    """Return the docstrings below fields, which Python does not store, as the words of a cell."""
    (declared,) = ast.parse(inspect.getsource(record)).body
    assert isinstance(declared, ast.ClassDef)
    return {
        ast.unparse(field.target): _as_cell(ast.literal_eval(text.value))
        for field, text in itertools.pairwise(declared.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }


def _as_cell(sentence: str) -> str:
    words = " ".join(sentence.split())
    return re.sub("^[A-Z](?=[a-z ])", lambda first: first[0].lower(), words)


def json_type(hint: Any) -> str:
    """Return the form of a type of fields, in words."""
    if hint in _WORDS:
        return _WORDS[hint]
    if dataclasses.is_dataclass(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    arguments = typing.get_args(hint)
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        kinds = [json_type(kind) for kind in arguments if kind is not type(None)]
        return " or ".join([*kinds, *(["null"] if type(None) in arguments else [])])
    if typing.get_origin(hint) is tuple or len(arguments) == 1:
        return f"array of {json_type(arguments[0])}"
    key, value = arguments
    if key is str:
        return f"object of {json_type(value)}"
    return f"array of {'' if _says_its_line(value) else 'entries of '}{json_type(value)}"


def _says_its_line(value: type) -> bool:
    """Whether a record says itself of which file and line it is, so that it needs no key."""
    return {"file", "line"} <= {field.name for field in dataclasses.fields(value)}
