"""The checklist of numba-cuda's features: the page, and the programs that its rows stand for."""

from __future__ import annotations

import itertools
import linecache
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from amdjit.diagnostics import CompileError
from amdjit.frontend import type_kernel
from amdjit.intrinsics.python_builtins import PYTHON_FUNCTIONS
from amdjit.language.compile_time import Compilation
from amdjit.options import CompileOptions, named_target
from amdjit.types import f32, i32

_TEXT = Path(__file__).with_suffix(".txt")
YES, DIFFERENT, REFUSED = "yes", "different", "refused"


@dataclass(frozen=True)
class Row:
    """A feature and what amdjit makes of it: see the head of the text file."""

    feature: str
    outcome: str
    how: str
    kind: str
    facts: tuple[str, ...]
    program: str


def _parts() -> dict[str, list[str]]:
    """Return the file's sections, each split into rows."""
    sections = re.split(r"^== ", _TEXT.read_text(), flags=re.MULTILINE)[1:]
    divided = (section.partition("\n") for section in sections)
    return {title: re.split(r"^-- ", text, flags=re.MULTILINE) for title, _, text in divided}


def _row(text: str) -> Row:
    head, what, program = text.split("\n", 2)
    feature, outcome, how = (part.strip() for part in (*head.split(" | "), "")[:3])
    kind, *facts = what.split()
    return Row(feature, outcome, how, kind, tuple(facts), textwrap.dedent(program).strip() + "\n")


_PARTS = _parts()
PRELUDE = textwrap.dedent(_PARTS.pop("prelude")[0])
TEST_TOPICS = tuple(
    tuple(line.strip().split(" | ")) for line in _PARTS.pop("Topics of numba-cuda's tests")[1:]
)
SECTIONS = tuple((title, tuple(map(_row, rows[1:]))) for title, rows in _PARTS.items())
MODULES: tuple[tuple[str, str], ...] = (
    (
        "math",
        """acos asin atan acosh asinh atanh cos sin tan hypot cosh sinh tanh atan2 erf erfc exp
        expm1 fabs frexp ldexp gamma lgamma log log2 log10 log1p sqrt remainder pow ceil
        floor copysign fmod modf isnan isinf isfinite""",
    ),
    (
        "cmath",
        """acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log log10 phase polar
        rect sin sinh sqrt tan tanh""",
    ),
    (
        "operator",
        """add and_ eq floordiv ge gt iadd iand ifloordiv ilshift imod imul invert ior ipow irshift
        isub itruediv ixor le lshift lt mod mul ne neg not_ or_ pos pow rshift sub
        truediv xor""",
    ),
    (
        "np",
        """sin cos tan arcsin arccos arctan arctan2 hypot sinh cosh tanh arcsinh arccosh arctanh
        deg2rad radians rad2deg degrees greater greater_equal less less_equal not_equal
        equal log log2 log10 logical_and logical_or logical_xor logical_not maximum
        minimum fmax fmin bitwise_and bitwise_or bitwise_xor invert bitwise_not
        left_shift right_shift""",
    ),
)
_UNARY_OF_INTEGERS = frozenset(("invert", "bitwise_not"))
_INTEGERS = re.compile(r"i?(and|or|xor|lshift|rshift)_?|bitwise_(and|or|xor)|(left|right)_shift")
_TWO = re.compile(
    r"i?(add|floordiv|mod|mul|sub|truediv)|eq|ge|gt|le|lt|ne|hypot|atan2|arctan2|remainder|pow|copysign|fmod|rect|"
    r"maximum|minimum|fmax|fmin|greater|greater_equal|less|less_equal|not_equal|equal|logical_(and|or|xor)"
)
_NUMBER = itertools.count()


def names_of_rows() -> dict[str, Any]:
    """Return the names that the programs of the rows may use."""
    return run_text(PRELUDE)


def run_text(text: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run a program in a way that its source lines can be found."""
    file = f"<checklist {next(_NUMBER)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    found = dict(names or {})
    exec(compile(text, file, "exec"), found)
    return found


def kernel_of(body: str, names: dict[str, Any]) -> FunctionType:
    """Return the function of a row's body."""
    text = f"def row(out, x, k, n):\n{textwrap.indent(body, '    ')}\n"
    function = run_text(text, names)["row"]
    assert isinstance(function, FunctionType)
    return function


def refusals(function: FunctionType) -> tuple[str, ...]:
    """Return the codes of the errors of a row's kernel."""
    try:
        compilation = Compilation(CompileOptions(named_target("gfx1201")))
        type_kernel(function, (f32[:], f32[:], i32[:], i32), compilation, PYTHON_FUNCTIONS)
    except CompileError as error:
        return tuple(diagnostic.code for diagnostic in error.diagnostics)
    return ()


_REAL_OF_COMPLEX = re.compile(r"is\w+|phase|polar")


def call_of(module: str, name: str) -> str:
    """Return a call of a module's function, with operands in its domain."""
    operands = "x[2]"
    if name == "ldexp":
        operands = "x[2], int(k[4])"
    elif module == "operator" and name in ("pow", "ipow"):
        operands = "x[4], 3"
    elif _INTEGERS.fullmatch(name):
        operands = "k[6], k[5]"
    elif name in _UNARY_OF_INTEGERS:
        operands = "k[6]"
    elif _TWO.fullmatch(name):
        operands = "x[4], x[5]"
    elif name == "acosh":
        operands = "x[4]"
    elif module == "cmath":
        operands = "x[2], x[2]" if name == "rect" else "complex(x[2], x[2])"
    call = f"{module}.{name}({operands})" + ("[0]" if name in ("frexp", "modf", "polar") else "")
    is_complex = module == "cmath" and not _REAL_OF_COMPLEX.fullmatch(name)
    return f"abs({call})" if is_complex else call


def supported(module: str, names: str) -> tuple[list[str], list[str]]:
    """Divide functions into those that kernels can call and those that are refused."""
    prelude = names_of_rows()
    found: tuple[list[str], list[str]] = ([], [])
    for name in names.split():
        refused = refusals(kernel_of(f"out[0] = {call_of(module, name)}", prelude))
        found[bool(refused)].append(name)
    return found


_REMEDIES = {
    "math": "a device library's function: `@amdjit.intrinsic(LlvmCall(...))`",
    "operator": "write the operator",
    "np": "Python's operators and `math`'s functions",
}


def rows_of_modules() -> Iterable[tuple[str, str, str]]:
    """Return the rows of Python's and NumPy's functions, as supported now."""
    for module, names in MODULES:
        yes, refused = supported(module, names)
        if yes:
            yield f"`{module}`: " + ", ".join(f"`{name}`" for name in yes), "yes", ""
        if refused:
            yield (
                f"`{module}`: " + ", ".join(f"`{name}`" for name in refused),
                "refused",
                _REMEDIES[module],
            )


def page(table: Callable[[tuple[str, ...], Iterable[tuple[str, ...]]], str]) -> list[str]:
    """Return the parts of the page."""
    head = ("numba-cuda", "amdjit", "")
    parts = []
    for title, rows in SECTIONS:
        parts += [f"## {title}", table(head, ((row.feature, row.outcome, row.how) for row in rows))]
    parts += ["## Functions of modules", table(head, rows_of_modules())]
    by_name = {row.feature: row for _, rows in SECTIONS for row in rows}
    topics = ((files, f"{by_name[name].outcome}", f"see {name}") for files, name in TEST_TOPICS)
    parts += [
        "## Topics of numba-cuda's tests",
        table(("tests/cudapy/test_*.py", "amdjit", ""), topics),
    ]
    return parts


def by_python(function: FunctionType, arrays: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Return what Python makes of a row's body."""
    out = np.zeros(8, np.float32)
    with np.errstate(all="ignore"):
        function(out, *arrays)
    return out


ARGUMENTS = (
    np.array([1.5, -2.25, 0.5, 3, 4, 5, 6, 7], np.float32),
    np.array([3, -4, 7, 0, 1, 2, 10, 5], np.int32),
    5,
)
