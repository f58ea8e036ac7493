"""Compile the code objects of the folder `objects`, which every test run executes without their
compilers.

`python tests/foreign/make_objects.py` needs the extra `foreign`. Debug information is left out: it
has the paths of a machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.foreign import iree_sources
from tests.foreign.foreign_compilers import (
    ForeignObject,
    compile_flydsl,
    compile_iree,
    compile_triton,
)
from tests.foreign.foreign_data import DTYPES
from tests.foreign.iree_program import Dispatch, HostFunction

FOLDER = Path(__file__).with_name("objects")
_FACTS = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
_SIZES = ("M", "N", "K", "a_row", "a_column", "b_row", "b_column", "c_row")


def _triton(
    kernel: str, pointers: dict[str, str], scalars: dict[str, str], constants: Any, **options: int
) -> Any:
    signature = {name: f"*{kind}" for name, kind in pointers.items()} | scalars
    facts = [_FACTS] * len(pointers) + [[]] * len(scalars)
    request = {
        "kernel": kernel,
        "signature": signature,
        "constants": constants,
        "facts": facts,
        "options": options,
    }
    return compile_triton(request), None


def _triton_matmul(kind: str, total: str, **options: int) -> Any:
    constants = {"BM": 32, "BN": 32, "BK": 32, "GROUP": 2}
    constants |= {"SUM": {"fp32": "tl.float32", "i32": "tl.int32"}[total]}
    pointers = {"a": kind, "b": kind, "c": total}
    return _triton("matmul", pointers, dict.fromkeys(_SIZES, "i32"), constants, **options)


def _triton_attention() -> Any:
    scalars = {"length": "i32", "scale": "fp32", "head_stride": "i32"}
    constants = {"BM": 32, "BN": 32, "HEAD": 32, "CAUSAL": True}
    return _triton(
        "attention", dict.fromkeys("qkv", "fp16") | {"out": "fp16"}, scalars, constants, num_warps=2
    )


def _triton_softmax() -> Any:
    scalars = {"stride": "i32", "columns": "i32"}
    return _triton("softmax", {"x": "bf16", "out": "bf16"}, scalars, {"BLOCK": 256}, num_warps=2)


def _iree(
    source: str, *inputs: tuple[tuple[int, ...], str]
) -> tuple[ForeignObject, tuple[int, ...]]:
    """Compile a program of one dispatch; return its kernel and the workgroups that the host
    function starts."""
    program = compile_iree(source)
    dispatches: list[Dispatch] = []
    HostFunction(program.host, dispatches.append).call(
        *(np.zeros(shape, DTYPES[kind]) for shape, kind in inputs)
    )
    (dispatch,) = dispatches
    assert not dispatch.constants
    return program.kernel(dispatch.executable, dispatch.function), dispatch.workgroups


def _flydsl() -> Any:
    return compile_flydsl(
        {"size": [64, 32, 48], "kinds": ["fp8", "f32"], "waves": [2, 1], "unrolled": False}
    ), None


RECIPES: dict[str, Callable[[], tuple[ForeignObject, tuple[int, ...] | None]]] = {
    "triton_softmax": _triton_softmax,
    "triton_matmul_f16": lambda: _triton_matmul("fp16", "fp32", num_warps=4, num_stages=3),
    "triton_matmul_i8": lambda: _triton_matmul("i8", "i32", num_warps=4),
    "triton_attention": _triton_attention,
    "iree_matmul": lambda: _iree(
        iree_sources.matmul((50, 40, 70), "f16", "f32", False), ((50, 70), "f16"), ((70, 40), "f16")
    ),
    "iree_sum": lambda: _iree(
        iree_sources.reduction((1, 3500), "f32", "arith.addf", 0), ((1, 3500), "f32")
    ),
    "iree_softmax": lambda: _iree(iree_sources.softmax((4, 64), "bf16", True), ((4, 64), "bf16")),
    "flydsl_gemm": _flydsl,
}


def main() -> None:
    """Write all code objects, and what a launch must know of each."""
    facts: dict[str, Any] = {}
    for name, recipe in RECIPES.items():
        code, grid = recipe()
        (FOLDER / f"{name}.co").write_bytes(_stripped(code.code))
        items = {"work_items": code.work_items, "dynamic_lds": code.dynamic_lds, "grid": grid}
        facts[name] = {
            "compiler": code.compiler,
            "version": code.version,
            "symbol": code.symbol,
            **items,
        }
    (FOLDER / "objects.json").write_text(json.dumps(facts, indent=2) + "\n")


def _stripped(code: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.co")
        path.write_bytes(code)
        subprocess.run(["llvm-objcopy-22", "--strip-debug", str(path)], check=True)
        return path.read_bytes()


if __name__ == "__main__":
    main()
