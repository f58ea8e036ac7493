"""All opcodes of the model by batch, and the cases of a batch: all forms, or some of each
opcode."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tests.emulator.model import control_flow, division, lanes
from tests.emulator.model.buffers import formats
from tests.emulator.model.cases import lds_programs
from tests.emulator.model.cases.buffer_cases import make_case
from tests.emulator.model.cases.buffer_programs import (
    FORMATTED,
    BufferCase,
    run_buffer_cases,
    untyped,
)
from tests.emulator.model.cases.gfx9_buffer_cases import make_gfx9_case
from tests.emulator.model.cases.gfx9_packed import wide_cases
from tests.emulator.model.cases.gfx9_registers import ALL as GFX9_REGISTERS
from tests.emulator.model.cases.gfx9_registers import Accumulators, DirectLoads
from tests.emulator.model.cases.gfx9_stores import run_scalar_stores, scalar_stores
from tests.emulator.model.cases.gfx9_variants import CLASSES as GFX9_CLASSES
from tests.emulator.model.cases.gfx9_variants import Gfx9Variant
from tests.emulator.model.cases.memory_programs import (
    inputs_for_memory,
    memory_cases,
    returns_nothing,
    run_memory_cases,
    run_scalar_loads,
)
from tests.emulator.model.cases.operand_makers import Maker
from tests.emulator.model.cases.packed_variants import CLASSES as PACKED_CLASSES
from tests.emulator.model.cases.packed_variants import Packed, dual_case, dual_operations
from tests.emulator.model.cases.programs import Case, run_cases
from tests.emulator.model.cases.samples import inputs_for
from tests.emulator.model.cases.scalar_programs import CLASSES as SCALAR_CLASSES
from tests.emulator.model.cases.scalar_programs import (
    ExecCase,
    ScalarCase,
    exec_cases,
    run_scalar_cases,
)
from tests.emulator.model.cases.variants import CLASSES, Variant
from tests.emulator.model.families import has, is_gfx9, own_name, rows_by_mnemonic
from tests.emulator.model.integers import INTEGERS
from tests.emulator.model.memory import Access, Atomic
from tests.emulator.model.operation import Op
from tests.emulator.model.scalars import EXEC_OPS
from tests.emulator.model.tables import tables
from tests.emulator.model.values import width
from tests.emulator.model.waves import lanes_of_wave

BATCHES = (
    *(
        "integers",
        "half",
        "single",
        "double",
        "conversions",
        "comparisons",
        "packed",
        "dual",
        "scalar",
        "memory",
    ),
    *("buffers", "division", "lanes", "shared", "control", "true16"),
)
# gfx9 has no dual instructions and no halves of registers as operands, but others.
GFX9_BATCHES = (
    *(batch for batch in BATCHES if batch not in ("dual", "true16")),
    *("wide", "registers", "direct", "stores"),
)
_ENCODINGS = ("VOP1", "VOP2", "VOPC", "VOP3")
_HALF_FORMS = ("signs", "clamp", "omod", "scalar", "inline", "literal", "dpp16", "dpp8", "partial")
_AT_ONCE = 60
# How many lanes a quick run has at most: it takes some of the forms of each opcode only.
_QUICK_LANES = 512
_WRONG_MEMORY: dict[str, Access] = {"ds_add_u32": Atomic(4, lambda m, d: m + d + 1)}
_WRONG = {"v_add_nc_u32": replace(INTEGERS["v_add_nc_u32"], compute=lambda x, y: x + y + 1)}
_GFX9_WRONG = {"v_add_u32": _WRONG["v_add_nc_u32"]}


def mnemonics() -> frozenset[str]:
    """Return the mnemonics of the family that the model covers."""
    known = tables()
    duals = {f"v_dual_{name}" for name in dual_operations()[1]}
    saving = {f"s_{name}_saveexec_b32" for name in EXEC_OPS}
    writing = {"s_and_not0_wrexec_b32", "s_and_not1_wrexec_b32"}
    others = {*division.ALL, *lanes.ALL, *lds_programs.ALL, *control_flow.ALL, *control_flow.ALL64}
    memory = {*known.memory, *known.scalar_loads, *FORMATTED}
    registers = {*known.vector, *known.packed, *duals, *known.scalars, *saving, *writing}
    if is_gfx9():
        registers |= {*known.wide, "v_pk_mov_b32", *GFX9_REGISTERS, *scalar_stores()}
    found = filter(has, {*memory, *registers, *others, *known.no_effect})
    return frozenset(map(own_name, found))


def _element(sources: tuple[str, ...]) -> int:
    sizes = {width(code.lstrip("hk")) for code in sources if code not in ("mask", "scc", "simm")}
    return 64 if 64 in sizes else 16 if sizes == {16} else 32


def _in_batch(batch: str, name: str, entry: Op) -> bool:
    if name in tables().compared:
        return batch == "comparisons"
    if name in tables().whole:
        return batch == "integers"
    if "_cvt_" in name:
        return batch == "conversions"
    return batch == {16: "half", 64: "double"}.get(_element(entry.sources), "single")


def run_batch(batch: str, count: int, random: np.random.Generator) -> tuple[list[str], int]:
    """Run a batch; returns what is wrong and how many cases there were."""
    if batch.split()[-1] in _PROGRAMS:
        return _PROGRAMS[batch.split()[-1]](count, random, batch.startswith("misled"))
    if batch == "scalar":
        return _run_scalars(count, random)
    if batch.endswith("memory"):
        return _run_memory(tables().memory if batch == "memory" else _WRONG_MEMORY, count, random)
    if batch == "buffers":
        return _run_buffers(count, random)
    cases, inputs = register_cases(batch, count, random)
    return _run(cases, inputs), len(cases)


def register_cases(
    batch: str, count: int, random: np.random.Generator
) -> tuple[list[tuple[int, Case]], dict[int, np.ndarray]]:
    """Return the cases of a batch of vector instructions with the width of their elements, and the
    inputs of each width."""
    if batch in _PACKED:
        inputs = {size: inputs_for(size, count, 11) for size in (16, 32)}
        makers = {size: Maker(data, random) for size, data in inputs.items()}
        return list(_PACKED[batch](makers, count <= _QUICK_LANES, random)), inputs
    if batch == "true16":
        table, make_cases = tables().vector, _half_cases
    else:
        table, make_cases = _table(batch), _vector_cases
    inputs = {size: inputs_for(size, count, 11) for size in (16, 32, 64)}
    makers = {size: Maker(data, random) for size, data in inputs.items()}
    return list(make_cases(table, makers, count <= _QUICK_LANES, random)), inputs


def _table(batch: str) -> Mapping[str, Op]:
    if batch == "wrong":
        return _GFX9_WRONG if is_gfx9() else _WRONG
    return {n: e for n, e in tables().vector.items() if _in_batch(batch, n, e)}


def _half_cases(
    table: Mapping[str, Op], makers: dict[int, Maker], quick: bool, random: np.random.Generator
) -> Iterator[tuple[int, Case]]:
    """Every half of every 16-bit source with every half of the result, plain and in another
    form."""
    for name, entry in table.items():
        size = _element(entry.sources)
        for row in rows_by_mnemonic(_ENCODINGS)[name]:
            places = [operand.source for operand in row.operands if operand.half]
            choices = list(itertools.product((0, 1), repeat=len(places))) if places else []
            for chosen in (
                [choices[random.integers(len(choices))]] if quick and choices else choices
            ):
                named = dict(zip(places, chosen, strict=True))
                halves = tuple(named.get(place, 0) for place in range(4))
                other = str(random.choice(_HALF_FORMS))
                for klass in (other,) if quick else ("plain", other):
                    yield size, Variant(makers[size], row, entry, klass, halves).case()


def _vector_cases(
    table: Mapping[str, Op], makers: dict[int, Maker], quick: bool, random: np.random.Generator
) -> Iterator[tuple[int, Case]]:
    for name, entry in table.items():
        size = _element(entry.sources)
        for row in rows_by_mnemonic(_ENCODINGS)[name]:
            # In quick runs: the plain form now and then, and one of the others.
            forms, make = (GFX9_CLASSES, Gfx9Variant) if is_gfx9() else (CLASSES, Variant)
            classes = [str(random.choice(forms))] if quick else forms
            for klass in classes:
                yield size, make(makers[size], row, entry, klass).case()


def _packed_cases(
    makers: dict[int, Maker], quick: bool, random: np.random.Generator
) -> Iterator[tuple[int, Case]]:
    for name in tables().packed:
        size = 16 if name.startswith("v_pk") else 32
        for klass in [str(random.choice(PACKED_CLASSES))] if quick else PACKED_CLASSES:
            yield size, Packed(makers[size], name, klass).case()


def _dual_cases(
    makers: dict[int, Maker], quick: bool, random: np.random.Generator
) -> Iterator[tuple[int, Case]]:
    firsts, seconds = dual_operations()
    for first in firsts:
        for second in [str(random.choice(seconds))] if quick else seconds:
            yield 32, dual_case(makers[32], first, second)


def _wide_cases(
    makers: dict[int, Maker], quick: bool, random: np.random.Generator
) -> Iterator[tuple[int, Case]]:
    for case in wide_cases(makers[32], random, 2 if quick else 12):
        yield 32, case


_PACKED = {"packed": _packed_cases, "dual": _dual_cases, "wide": _wide_cases}


def _run(cases: list[tuple[int, Case]], inputs: dict[int, np.ndarray]) -> list[str]:
    wrong = []
    for size, data in inputs.items():
        chosen = [case for element, case in cases if element == size]
        for start in range(0, len(chosen), _AT_ONCE):
            wrong += [str(failure) for failure in run_cases(chosen[start : start + _AT_ONCE], data)]
    return wrong


def _run_memory(
    table: Mapping[str, Access], count: int, random: np.random.Generator
) -> tuple[list[str], int]:
    quick = count <= _QUICK_LANES
    inputs = inputs_for_memory(2 if quick else count // lanes_of_wave(), random)
    cases = memory_cases(table, random, 1 if quick else 3)
    if quick and len(cases) > _AT_ONCE:
        cases = [case for case in cases if random.integers(2)]
    wrong = run_scalar_loads(inputs.shape[1], random)
    for start in range(0, len(cases), _AT_ONCE):
        wrong += run_memory_cases(cases[start : start + _AT_ONCE], inputs, random)
    return wrong, len(cases) + len(tables().scalar_loads)


def _run_buffers(count: int, random: np.random.Generator) -> tuple[list[str], int]:
    """Quick: one form of each opcode on one wave. Else 2,048 lanes or more of each, and all formats
    of the tbuffers."""
    quick = count <= _QUICK_LANES
    cases: list[BufferCase] = []
    make = make_gfx9_case if is_gfx9() else make_case
    plain = [name for name in untyped() if not returns_nothing(name)]
    for name in filter(has, (*FORMATTED, *plain)):
        for _ in range(1 if quick else 12):
            cases.append(make(name, 1 if quick else 6, random))
    if quick:
        for name in ("load_format", "load_d16_format", "store_format", "store_d16_format"):
            chosen = f"tbuffer_{name}_xyzw"
            if not has(chosen):
                continue
            cases += [
                make(chosen, 1, random, number)
                for number in formats()
                if _is_settled(chosen, number)
            ]
    else:
        for name in filter(has, FORMATTED):
            cases += [
                make(name, 6, random, number) for number in formats() if _is_settled(name, number)
            ]
    waves: dict[int, list[BufferCase]] = {}
    for case in cases:
        waves.setdefault(len(case.rows), []).append(case)
    wrong = []
    for group in waves.values():
        for start in range(0, len(group), _AT_ONCE):
            wrong += run_buffer_cases(group[start : start + _AT_ONCE], random)
    return wrong, len(cases)


def _is_settled(name: str, number: int) -> bool:
    """The document leaves open how stores round to scaled formats, and what D16 loads make of wide
    integers."""
    kind, widths = formats()[number]
    wide = kind in ("UINT", "SINT") and 32 in widths
    return not ("_store_" in name and kind.endswith("SCALED")) and not (
        "_load_d16" in name and wide
    )


def _run_scalars(count: int, random: np.random.Generator) -> tuple[list[str], int]:
    wrong, total = [], 0
    for size in (16, 32, 64):
        inputs = inputs_for(size, count, 11)[:8]
        cases: list[ScalarCase | ExecCase] = []
        if size == 32 and not is_gfx9():
            cases += exec_cases(inputs)
        for name, entry in tables().scalars.items():
            if _element(entry.op.sources) == size:
                classes = (
                    [str(random.choice(SCALAR_CLASSES))]
                    if count <= _QUICK_LANES
                    else SCALAR_CLASSES
                )
                cases += [ScalarCase(name, entry, klass, inputs, random) for klass in classes]
        total += len(cases)
        for start in range(0, len(cases), _AT_ONCE):
            wrong += run_scalar_cases(cases[start : start + _AT_ONCE], inputs)
    return wrong, total


def _run_division(count: int, random: np.random.Generator, misled: bool) -> tuple[list[str], int]:
    inputs = {size: inputs_for(size, count, 11) for size in (16, 32, 64)}
    times = 1 if count <= _QUICK_LANES else 3
    cases = [
        (size, case)
        for _ in range(times)
        for size, case in division.division_cases(inputs, random)
        if has(case.name)
    ]
    return _run(cases, {size: rows ^ np.uint32(misled) for size, rows in inputs.items()}), len(
        cases
    )


def _run_lanes(count: int, random: np.random.Generator, misled: bool) -> tuple[list[str], int]:
    inputs = inputs_for(32, count, 11)
    cases = [
        case
        for case in lanes.Lanes(inputs, random).cases(2 if count <= _QUICK_LANES else 8)
        if has(case.name)
    ]
    return _run([(32, case) for case in cases], {32: inputs ^ np.uint32(misled)}), len(cases)


def _run_registers(count: int, random: np.random.Generator, misled: bool) -> tuple[list[str], int]:
    inputs = inputs_for(32, count, 11)
    cases = list(Accumulators(inputs, random).cases(1 if count <= _QUICK_LANES else 6))
    failures = run_cases(cases, inputs ^ np.uint32(misled), lds_programs.region())
    return [str(failure) for failure in failures], len(cases)


def _run_direct(count: int, random: np.random.Generator, misled: bool) -> tuple[list[str], int]:
    inputs = inputs_for(32, count, 11)
    cases = list(DirectLoads(inputs, random).cases(2 if count <= _QUICK_LANES else 6))
    failures = run_cases(cases, inputs ^ np.uint32(misled), lds_programs.region(), _PRIVATE)
    return [str(failure) for failure in failures], len(cases)


def _run_stores(count: int, random: np.random.Generator, misled: bool) -> tuple[list[str], int]:
    return run_scalar_stores(4, random, 2 if count <= _QUICK_LANES else 12, misled)


def _run_shared(count: int, random: np.random.Generator, misled: bool) -> tuple[list[str], int]:
    inputs = inputs_for(32, count, 11)
    maker = lds_programs.SharedMemory(inputs, random)
    cases = [case for case in maker.cases(1 if count <= _QUICK_LANES else 6) if has(case.name)]
    wrong = []
    for start in range(0, len(cases), _AT_ONCE // 2):
        some = cases[start : start + _AT_ONCE // 2]
        failures = run_cases(some, inputs ^ np.uint32(misled), lds_programs.region(), _PRIVATE)
        wrong += [str(failure) for failure in failures]
    return wrong, len(cases)


def _run_control(count: int, random: np.random.Generator, misled: bool) -> tuple[list[str], int]:
    inputs = inputs_for(32, count, 11)[:8]
    maker = control_flow.ControlFlow(inputs, random)
    times = 1 if count <= _QUICK_LANES else 5
    cases = [case for case in maker.cases(times, tables().no_effect.values()) if has(case.text)]
    wide = list(maker.cases64())
    given = inputs ^ np.uint32(misled)
    wrong = run_scalar_cases(wide, given, 64)
    for start in range(0, len(cases), _AT_ONCE):
        wrong += run_scalar_cases(cases[start : start + _AT_ONCE], given)
    return wrong, len(cases) + len(wide)


# Bytes of private memory of a lane.
_PRIVATE = 256
# Those that are made of programs of their own. If they are misled, the instructions get other
# inputs than the model.
_PROGRAMS = {
    "division": _run_division,
    "lanes": _run_lanes,
    "shared": _run_shared,
    "control": _run_control,
    "registers": _run_registers,
    "direct": _run_direct,
    "stores": _run_stores,
}
