"""Whether tests notice small mistakes: `python tests/mutants.py --count 100 --seed 1` changes one
line of amdjit at a time in a copy and runs tests of the room that it is in.

`--tests` names folders with other tests to compare: mutants that live are tried against these, too.
Prints a line for each mutant and a table; with `--all` the whole room is run, not a choice of it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What has not failed by then lives: a mutant that hangs is ended by the limit of its test.
SECONDS = 300


OTHERS = "other_tests"
OUTCOMES = ("killed", "killed by the other tests", "lived")


@dataclass(frozen=True)
class Room:
    """Sources, the tests that are to notice mistakes there soon, and all that could."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    folders: tuple[str, ...] = field(default=())


ROOMS = {
    "frontend": Room(
        ("amdjit/frontend",),
        (
            "golden/test_typed_trees.py", "golden/test_error_messages.py",
            "golden/test_text_cases.py", "api/control_flow/test_control_flow.py",
            "api/control_flow/test_evaluation_order.py", "frontend/test_mixed_signs.py",
            "api/functions/test_functions_and_names.py",
        ),
        ("frontend", "golden", "api"),
    ),
    "lowering": Room(
        ("lowering",),
        (
            "golden/test_text_cases.py", "lowering/test_variables_without_memory.py",
            "lowering/test_debug_variables.py", "lowering/test_intrinsic_lowerings.py",
            "lowering/test_small_types_on_the_emulator.py", "api/launching/test_printing.py",
        ),
        ("lowering", "golden", "api"),
    ),
    "backend": Room(
        ("amdjit/backend", "amdjit/abi"),
        (
            "golden/test_text_cases.py", "backend/test_linking.py", "backend/test_long_blocks.py",
            "backend/test_wide_or.py", "backend/test_masked_factors.py",
            "backend/test_signed_zeros.py", "backend/test_llvm_stages.py",
            "runtime/test_kernarg_layout.py",
        ),
        ("backend", "golden", "lowering", "ahead_of_time"),
    ),
    "code objects": Room(
        ("amdjit/code_object",),
        (
            "code_object/test_line_table.py", "code_object/test_kernel_descriptor.py",
            "code_object/test_dwarf_expressions.py", "code_object/test_debug_info.py",
            "code_object/test_offload_bundles.py", "code_object/test_code_object_headers.py",
        ),
        ("code_object", "inspection", "emulator/launch"),
    ),
    "instruction sets": Room(
        ("amdjit/isa",),
        (
            "emulator/test_emulator_rows.py", "emulator/decoder/test_phrases.py", "testing",
            "emulator/decoder/test_decoder_values.py", "inspection/test_meanings.py",
            "emulator/decoder/test_decoder_assembly.py", "inspection/test_instruction_meanings.py",
            "inspection/test_impossible_instructions.py",
        ),
        ("emulator/decoder", "emulator/instructions", "testing", "inspection"),
    ),
    "emulator": Room(
        ("amdjit/emulator/instructions", "amdjit/emulator/wave", "amdjit/isa/floats"),
        (
            "emulator/test_emulator_rows.py", "emulator/instructions/test_emulator_opcodes.py",
            "emulator/instructions/test_emulator_scalar_floats.py",
            "emulator/instructions/test_emulator_conversions.py",
            "emulator/instructions/test_emulator_rare_vectors.py",
            "emulator/matrix/test_silicon_captures.py", "emulator/memory/test_emulator_buffers.py",
        ),
        ("emulator/instructions", "emulator/memory", "emulator/matrix", "emulator/programs"),
    ),
    "launches": Room(
        ("amdjit/emulator/launch", "amdjit/emulator/scheduling", "amdjit/emulator/tiers"),
        (
            "emulator/scheduling/test_emulator_barriers.py",
            "emulator/launch/test_emulator_running.py", "emulator/launch/test_c_format.py",
            "emulator/launch/test_emulator_limits.py", "emulator/tiers/test_gfx9_tiers.py",
            "emulator/launch/test_emulator_launches.py",
        ),
        ("emulator/launch", "emulator/scheduling", "emulator/tiers", "emulator/programs"),
    ),
    "checks": Room(
        ("amdjit/emulator/checks", "amdjit/checking"),
        (
            "emulator/checks/test_memory_check.py", "emulator/checks/test_sync_check.py",
            "emulator/checks/test_written_memory.py", "emulator/checks/test_lds_elements.py",
            "emulator/checks/test_same_value_stores.py", "emulator/checks/test_init_check.py",
            "emulator/checks/test_check_wait_halves.py",
        ),
        ("emulator/checks", "examples"),
    ),
    "inspection": Room(
        ("amdjit/inspection", "amdjit/advice.py"),
        (
            "inspection/test_json_form.py", "inspection/test_register_set.py",
            "inspection/test_loops.py", "inspection/test_origins.py",
            "inspection/test_occupancy.py", "inspection/test_register_banks.py",
            "inspection/test_comparison.py", "inspection/test_impossible_instructions.py",
            "inspection/test_gfx9_inspection.py", "command_line/test_inspect_views.py",
        ),
        ("inspection", "command_line", "explorer"),
    ),
    "gates": Room(
        (
            "amdjit/testing/conditions.py", "amdjit/testing/differences.py",
            "amdjit/testing/figures.py", "amdjit/testing/gates.py", "amdjit/testing/measured.py",
            "amdjit/testing/tuning_differences.py", "amdjit/command_line/gate.py",
            "amdjit/command_line/diff.py", "amdjit/command_line/measuring.py",
        ),
        (
            "testing/test_gate_conditions.py", "testing/test_gates.py", "testing/test_figures.py",
            "testing/test_measured.py", "testing/test_kernel_differences.py",
            "command_line/test_gate.py", "command_line/test_diff.py",
        ),
        ("testing", "command_line"),
    ),
    "launching": Room(
        ("amdjit/launching", "amdjit/diagnostics"),
        (
            "api/launching/test_wrong_launches.py", "api/launching/test_launches.py",
            "api/launching/test_reports.py", "api/launching/test_first_mistakes.py",
            "runtime/test_argument_packing.py", "runtime/test_launch_checks.py",
            "runtime/test_refused_arrays.py", "golden/test_error_messages.py",
        ),
        ("api/launching", "golden", "runtime", "diagnostics"),
    ),
    "arrays": Room(
        ("amdjit/arrays", "amdjit/runtime"),
        (
            "arrays/test_array_creation.py", "arrays/test_array_lifetime.py",
            "arrays/test_memory_pool.py", "arrays/test_pinned_memory.py",
            "arrays/test_array_assignment.py", "runtime/test_strides.py",
            "runtime/test_dlpack.py", "runtime/test_staging.py", "runtime/test_devices.py",
            "runtime/test_streams_on_hip.py",
        ),
        ("arrays", "runtime", "doctor"),
    ),
    "cycles": Room(
        ("amdjit/cycles", "amdjit/profiling"),
        (
            "cycles/test_timing_classes.py", "cycles/test_program_table.py",
            "cycles/test_parameter_file.py", "cycles/test_loop_cycles.py",
            "cycles/test_memory_system.py", "cycles/test_placement.py",
            "cycles/test_simulation.py", "cycles/test_cdna.py", "profiling",
        ),
        ("cycles", "profiling", "probe"),
    ),
}  # fmt: skip
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
CALCULATED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.LShift: ">>", ast.RShift: "<<",
              ast.BitAnd: "|", ast.BitOr: "&"}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """What a piece of one line becomes."""

    path: str
    line: int
    start: int
    end: int
    text: str
    kind: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}, {self.kind}, {self.text!r}"

    def applied(self, source: str) -> str:
        """Return the source with the mistake."""
        lines = source.splitlines(keepends=True)
        raw = lines[self.line - 1].encode()
        changed = raw[: self.start] + self.text.encode() + raw[self.end :]
        lines[self.line - 1] = changed.decode()
        return "".join(lines)


def _annotations(tree: ast.AST) -> set[ast.AST]:
    """Return what stands in annotations and docstrings, where a change changes nothing."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            inner = getattr(node, name, None)
            if inner is not None:
                found.update(ast.walk(inner))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            found.update(ast.walk(node))
    return found


def mutations_of(path: str, source: str) -> Iterator[Mutation]:
    """Give all mistakes that can be made in the functions of a module."""
    tree = ast.parse(source)
    left_out = _annotations(tree)
    inside = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if node in inside and node not in left_out:
            for line, start, end, text, kind in _changes(node):
                yield Mutation(path, line, start, end, text, kind)


def _changes(node: ast.AST) -> Iterator[tuple[int, int, int, str, str]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _between(node.left, node.comparators[0], COMPARED.get(type(node.ops[0])))
    elif isinstance(node, ast.BinOp):
        yield from _between(node.left, node.right, CALCULATED.get(type(node.op)))
    elif not isinstance(node, (ast.expr, ast.stmt)) or node.lineno != node.end_lineno:
        return
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield (*_place(node), str(node.value + 1), "constant off by one")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.lineno, node.col_offset, node.operand.col_offset, "", "dropped not"
    elif isinstance(node, (ast.AugAssign, ast.Expr)) and not isinstance(
        getattr(node, "value", None), (ast.Constant, ast.Yield)
    ):
        yield (*_place(node), "pass", "deleted statement")
    elif isinstance(node, ast.IfExp):
        test = node.test
        yield test.lineno, test.col_offset, test.col_offset, "not ", "swapped branches"


def _place(node: ast.expr | ast.stmt) -> tuple[int, int, int]:
    assert node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_col_offset


def _between(
    left: ast.expr, right: ast.expr, operator: str | None
) -> Iterator[tuple[int, int, int, str, str]]:
    """Replace what stands between two operands that have no brackets of their own."""
    if operator is not None and left.end_lineno == right.lineno and left.lineno == right.lineno:
        assert left.end_col_offset is not None
        kind = "flipped comparison" if operator in COMPARED.values() else "other operation"
        yield left.lineno, left.end_col_offset, right.col_offset, f" {operator} ", kind


def chosen(room: Room, count: int, numbers: random.Random) -> list[Mutation]:
    """Draw mutations of a room, each of another module where there are enough, that compile."""
    paths = sorted(
        path
        for source in room.sources
        for path in ROOT.glob(source if source.endswith(".py") else f"{source}/**/*.py")
        if "tables" not in path.parts and len(path.read_text().splitlines()) < 1000
    )
    numbers.shuffle(paths)
    drawn: list[Mutation] = []
    for path in paths:
        source = path.read_text()
        found = list(mutations_of(str(path.relative_to(ROOT)), source))
        numbers.shuffle(found)
        for mutation in found:
            if _compiles(mutation.applied(source)):
                drawn.append(mutation)
                break
        if len(drawn) == count:
            break
    return drawn


def _compiles(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def copied_tree(folder: Path) -> Path:
    """Copy what tests need to a folder of its own."""
    tree = folder / "tree"
    left_out = shutil.ignore_patterns(".git", ".*_cache", "__pycache__", "build", "*.egg-info")
    shutil.copytree(ROOT, tree, symlinks=True, ignore=left_out)
    return tree


def killer(tree: Path, tests: list[str], bytecode: Path) -> str:
    """Return the first test that fails, or nothing. Each run has a cache of its own: a kernel that
    was stored is right."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "PYTHONPATH": str(tree),
            "AMDJIT_CACHE_DIR": cache,
            "PYTHONPYCACHEPREFIX": str(bytecode),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            ended = subprocess.run(
                command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
    return failed[1] if failed else f"exit status {ended.returncode}" if ended.returncode else ""


def tried(mutation: Mutation, tree: Path, runs: list[list[str]], bytecode: Path) -> tuple[int, str]:
    """Return the number of the first run that notices the mistake, and the test that does."""
    file = tree / mutation.path
    source = file.read_text()
    file.write_text(mutation.applied(source))
    try:
        for number, run in enumerate(runs):
            test = killer(tree, run, bytecode)
            if test:
                return number, test
        return len(runs), ""
    finally:
        file.write_text(source)


def runs_of(tree: Path, names: tuple[str, ...]) -> list[list[str]]:
    """Return the tests to run, and the others that are not the same."""
    missing = [name for name in names if not (tree / "tests" / name).exists()]
    if missing:
        raise FileNotFoundError(f"every mutant would look killed: there is no {missing}")
    others = [
        f"{OTHERS}/{name}"
        for name in names
        if (tree / OTHERS / name).exists() and not _is_same(tree, name)
    ]
    return [[f"tests/{name}" for name in names], *([others] if others else [])]


def _is_same(tree: Path, name: str) -> bool:
    mine, other = tree / "tests" / name, tree / OTHERS / name
    return mine.is_file() and mine.read_bytes() == other.read_bytes()


def main() -> None:
    """Try mutants of all rooms, and print which lived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", choices=ROOMS, action="append")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--tests", type=Path, help="a folder with the tests to compare with")
    options = parser.parse_args()
    rooms = options.room or list(ROOMS)
    drawn = [
        (number, name, mutation)
        for place, name in enumerate(rooms)
        for number, mutation in enumerate(
            chosen(
                ROOMS[name],
                len(range(place, options.count, len(rooms))),
                random.Random(f"{options.seed} {name}"),
            )
        )
    ]
    outcomes: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = copied_tree(Path(folder))
        if options.tests:
            shutil.copytree(options.tests, tree / OTHERS)
        # By turns, so that a run that is ended has some of each room.
        for _, name, mutation in sorted(drawn, key=lambda each: each[0]):
            names = ROOMS[name].folders if options.all else ROOMS[name].tests
            number, test = tried(mutation, tree, runs_of(tree, names), Path(folder, "bytecode"))
            outcome = OUTCOMES[number] if test else OUTCOMES[-1]
            outcomes[name, outcome] += 1
            print(f"{outcome}: {name}, {mutation} {test}", flush=True)
    for name in rooms:
        print(name, *(f"{outcomes[name, each]} {each}" for each in OUTCOMES), sep=", ")


if __name__ == "__main__":
    main()
