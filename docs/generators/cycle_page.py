"""The generated tables of docs/cycles.md: parameters, and errors on recorded traces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from amdjit.cycles.cdna import CDNA_MEMORY, CDNA_OWN
from amdjit.cycles.memory_parameters import MEMORY_PARAMETERS
from amdjit.cycles.parameters import PARAMETERS, PASSES, RDNA3_PASSES, Parameter
from amdjit.cycles.rdna3 import RDNA3, RDNA35

__all__ = ["ERRORS", "with_tables"]

# Written by `python benchmarks/cycle_model.py --json docs/cycle_errors.json`.
ERRORS = Path(__file__).parents[1] / "cycle_errors.json"
# `... cycle_model.py tests/hardware/traces_cdna/*__*.json --json docs/cycle_errors_cdna.json`.
CDNA_ERRORS = ERRORS.with_name("cycle_errors_cdna.json")

Table = Callable[[tuple[str, ...], Iterable[tuple[str, ...]]], str]
_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_KINDS = ("ALU", "WMMA", "memory", "loop", "LDS", "barrier", "branch", "kernel")


def with_tables(text: str, table: Table) -> str:
    """Return the page with its tables as they are now."""
    errors, cdna = (json.loads(path.read_text()) for path in (ERRORS, CDNA_ERRORS))
    tables = {
        "passes": lambda: _passes(table),
        "families": lambda: _families(table, errors),
        "rdna3_parameters": lambda: _parameters(table, RDNA3),
        "rdna35_parameters": lambda: _parameters(
            table, {name: row for name, row in RDNA35.items() if row != RDNA3[name]}
        ),
        "parameters": lambda: _parameters(table, PARAMETERS),
        "memory_parameters": lambda: _parameters(table, MEMORY_PARAMETERS),
        "totals": lambda: _totals(table, errors),
        "runs": lambda: _runs(table, errors),
        "traces": lambda: _traces(table, errors),
        "worst": lambda: _worst(table, errors),
        "cdna_parameters": lambda: _parameters(table, CDNA_OWN),
        "cdna_memory_parameters": lambda: _parameters(table, CDNA_MEMORY),
        "cdna_totals": lambda: _totals(table, cdna),
        "cdna_traces": lambda: _traces(table, cdna),
    }
    return _BLOCK.sub(lambda match: f"{match[1]}{tables[match[2]]().rstrip()}\n{match[3]}", text)


def _passes(table: Table) -> str:
    rows = [
        (timing.value, str(cycles), str(RDNA3_PASSES[timing])) for timing, cycles in PASSES.items()
    ]
    return table(("class", "cycles, RDNA 4", "cycles, RDNA 3"), rows)


def _families(table: Table, errors: Mapping[str, Any]) -> str:
    """The error of the sum by family and kind, of all traces and of those held out."""
    rows = []
    for family in dict.fromkeys(trace["family"] for trace in errors["traces"]):
        of_family = [trace for trace in errors["traces"] if trace["family"] == family]
        held = [trace for trace in of_family if trace["held_out"]]
        for label, traces in ((family, of_family), (f"{family}, held out", held)):
            rows.append((label, str(len(traces)), *(_of_sum(traces, kind) for kind in _KINDS)))
    return table(("family", "traces", *_KINDS), rows)


def _of_sum(traces: Iterable[Mapping[str, Any]], kind: str) -> str:
    found = [trace["errors"][kind] for trace in traces if kind in trace["errors"]]
    measured = sum(each["measured"] for each in found)
    predicted = sum(each["predicted"] for each in found)
    return f"{(predicted - measured) / measured:+.1%}" if measured else ""


def _parameters(table: Table, parameters: Mapping[str, Parameter]) -> str:
    rows = [
        (row.name, f"{row.value:g} {row.unit}", row.kind.value, row.source)
        for row in parameters.values()
    ]
    return table(("parameter", "value", "how it is known", "source"), rows)


def _totals(table: Table, errors: Mapping[str, Any]) -> str:
    head = ("what", "samples", "error of the sum", "median", "exact", "≤ 1", "≤ 5", "≤ 10", "≤ 50")
    rows = []
    for kind, found in errors["all"].items():
        within = (f"{found['within'][limit]:.0%}" for limit in ("0", "1", "5", "10", "50"))
        rows.append(
            (
                f"{kind}: {errors['kinds'][kind]}",
                f"{found['samples']:,}",
                f"{found['relative']:+.1%}",
                f"{found['median']:g}",
                *within,
            )
        )
    return table(head, rows)


def _runs(table: Table, errors: Mapping[str, Any]) -> str:
    """The first run of each kernel, and all others."""
    rows = []
    for name, label in (("first", "first runs"), ("others", "other runs")):
        found = errors[name]
        rows.append((label, *(_relative(found, kind) for kind in _KINDS if kind in errors["all"])))
    return table(("traces", *(kind for kind in _KINDS if kind in errors["all"])), rows)


def _relative(found: Mapping[str, Any], kind: str) -> str:
    return f"{found[kind]['relative']:+.1%}" if kind in found else ""


def _traces(table: Table, errors: Mapping[str, Any]) -> str:
    kinds = [kind for kind in reversed(_KINDS) if kind in errors["all"]]
    rows = []
    for trace in errors["traces"]:
        kernel = trace["errors"].get("kernel", {})
        given = ", ".join(f"{cycles:,} {cause}" for cause, cycles in trace["given"].items())
        rows.append(
            (
                trace["name"],
                str(trace["waves"]),
                f"{kernel.get('measured', 0):,}",
                given,
                *(_relative(trace["errors"], kind) for kind in kinds),
            )
        )
    return table(("trace", "waves", "cycles", "given", *kinds), rows)


def _worst(table: Table, errors: Mapping[str, Any]) -> str:
    rows = [
        (kind, str(case["predicted"]), str(case["measured"]), case["trace"], f"`{case['text']}`")
        for kind, cases in errors["worst"].items()
        for case in cases
    ]
    return table(("what", "predicted", "measured", "trace", "instruction"), rows)
