"""IREE's own runtime launches IREE's kernels: `amdjit run` gives it a libamdhip64."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import iree.compiler
import iree.runtime
import numpy as np

source = '''
func.func @scores(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  %product = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
    outs(%start : tensor<64x48xf32>) -> tensor<64x48xf32>
  %soft = linalg.softmax dimension(1) ins(%product : tensor<64x48xf32>)
    outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %soft : tensor<64x48xf32>
}
'''
module = iree.compiler.compile_str(
    source, target_backends=["rocm"], extra_args=["--iree-rocm-target=gfx1201"]
)
context = iree.runtime.SystemContext(config=iree.runtime.Config("hip"))
context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, module))
random = np.random.default_rng(1)
for _ in range(3):
    a = random.standard_normal((64, 32)).astype(np.float32)
    b = random.standard_normal((32, 48)).astype(np.float32)
    found = context.modules.module.scores(a, b).to_host()
    powers = np.exp(a @ b - (a @ b).max(1, keepdims=True))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-4, atol=1e-5)
print("right")
"""
PATHS = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])


@pytest.mark.foreign
def test_irees_runtime_launches_on_the_emulator(tmp_path: Path) -> None:
    pytest.importorskip("iree.compiler", reason="IREE's compiler is not installed")
    pytest.importorskip("iree.runtime", reason="IREE's runtime is not installed")
    program, report = tmp_path / "program.py", tmp_path / "report.json"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "amdjit", "run", "--device", "emulator:gfx1201"]
    command += ["--check", "memory,race,init,sync", "--report", str(report), "--"]
    done = subprocess.run(
        [*command, sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": PATHS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    # IREE keeps memory of its own until the process ends.
    assert {each["kind"] for each in json.loads(report.read_text())["reports"]} <= {"leak"}
