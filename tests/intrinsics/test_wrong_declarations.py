"""Wrong declarations of users are refused: where they are made, or before LLVM would end the
process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amdjit
from amdjit import LlvmCall, f32, i32
from amdjit.declarations import As, Emit
from amdjit.types import Type


def declared(lowering: Any, parameter: Type = f32, result: Type = f32, **options: Any) -> Any:
    def own(x: Any) -> Any:
        return x

    own.__annotations__ = {"x": parameter, "return": result}
    return amdjit.intrinsic(lowering, **options)(own)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: declared(LlvmCall("llvm.amdgcn.rcp.{y}")), r"names \{y\}: there are x, return"),
        (
            lambda: declared(LlvmCall("llvm.amdgcn.rcp.f32", ("y",))),
            "'y' is not a parameter: there are x",
        ),
        (
            lambda: declared(LlvmCall("llvm.amdgcn.rcp.f32", (As("y", i32),))),
            "'y' is not a parameter: there are x",
        ),
        (
            lambda: declared(LlvmCall("llvm.amdgcn.rcp.f32"), targets=("gfx12",)),
            "no processor 'gfx12': .*gfx1201",
        ),
        (
            lambda: declared(LlvmCall("llvm.amdgcn.rcp.f32"), targets="gfx1201"),
            r"such as \('gfx1201',\)",
        ),
        (
            lambda: declared(LlvmCall("llvm.amdgcn.rcp.f32"), wave_sizes=32),
            r"\(32,\), \(64,\) or \(32, 64\), not 32",
        ),
        (lambda: declared("llvm.amdgcn.rcp.f32"), r"takes LlvmCall\(name\), Emit\(function\)"),
        (lambda: amdjit.intrinsic(declared), r"takes LlvmCall\(name\), Emit\(function\)"),
    ],
)
def test_contradictions_are_told_at_the_declaration(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def compile_use(function: Any, kind: Type = f32, target: str = "gfx1201") -> amdjit.CompiledKernel:
    @amdjit.kernel
    def kernel(x, out):
        out[0] = function(x[0])

    return kernel.compile(kind[:], kind[:], target=target)


@pytest.mark.parametrize(
    ("emit", "message"),
    [
        (
            lambda context, x: context.constant(i32, 1),
            "returned a value of LLVM's i32; it is declared as f32, float",
        ),
        (lambda context, x: None, "returned None; it is declared as f32"),
    ],
)
def test_an_emit_function_returns_what_is_declared(emit: Callable[..., Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        compile_use(declared(Emit(emit)))


def test_a_library_may_be_named_by_text(tmp_path: Path) -> None:
    file = tmp_path / "thrice.ll"
    file.write_text(
        "define float @thrice(float %x) {\n  %y = fmul float %x, 3.0\n  ret float %y\n}\n"
    )
    thrice = declared(LlvmCall("thrice", library=str(file)))

    @amdjit.kernel
    def kernel(x):
        x[amdjit.threadIdx.x] = thrice(x[amdjit.threadIdx.x])

    x = np.arange(32, dtype=np.float32)
    kernel[1, 32](x)
    assert x.tolist() == [3.0 * lane for lane in range(32)]
    with pytest.raises(amdjit.TargetError, match="which was not found"):
        compile_use(declared(LlvmCall("thrice", library=str(tmp_path / "none.ll"))))


# In a process of their own: LLVM ended it at each of these.
_WRONG_IR = """
from typing import Annotated
import amdjit
from amdjit import LlvmCall, f32, i32, intrinsic, i16
from amdjit.declarations import Emit
from amdjit.types import VOID

def emit_variable_sleep(context, x):
    context.call("llvm.amdgcn.s.sleep", context.llvm_type(VOID), [x])
    return x

@intrinsic(LlvmCall("llvm.amdgcn.rcp.f32"))
def whole(x: i32) -> i32: ...

@intrinsic(LlvmCall("llvm.fma.f32", ("x", "x")))
def two_operands(x: i32) -> i32: ...

@intrinsic(Emit(emit_variable_sleep))
def sleep(x: i32) -> i32: ...

@intrinsic(LlvmCall("llvm.amdgcn.prng.b32"))
def random(x: i32) -> i32: ...

for function in (whole, two_operands, sleep, random):
    @amdjit.kernel
    def kernel(x: i32[:]):
        x[0] = function(x[0])
    try:
        kernel.compile(target="gfx1201")
        print("compiled")
    except amdjit.BackendError as error:
        print(" ".join(str(error).split()))
"""


def test_wrong_ir_does_not_end_the_process(tmp_path: Path) -> None:
    script = tmp_path / "wrong_ir.py"
    script.write_text(_WRONG_IR)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return_type, operands, constant, elsewhere = run.stdout.splitlines()
    assert "incorrect return type" in return_type
    assert return_type.endswith("The kernel uses whole: see its declaration")
    assert "two_operands" in operands
    assert "immarg operand has non-immediate parameter" in constant
    assert "gfx1201 has no llvm.amdgcn.prng.b32, which gfx1250, gfx1251, gfx950 have" in elsewhere
    assert not run.stderr
