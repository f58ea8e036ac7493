"""Small linked code objects made with LLVM alone, so that the tests of the runtime need nothing of
the compiler."""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from pathlib import Path

from llvmlite import binding

# out[0] = value * 2 for work-item 0; other tests only look at the bytes that arrive.
_KERNEL = """
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @{name}(ptr addrspace(1) %out, i32 %n, float %value) #0 {{
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %inside = icmp ult i32 %id, %n
  br i1 %inside, label %store, label %end
store:
  %at = getelementptr inbounds float, ptr addrspace(1) %out, i32 %id
  %double = fmul float %value, 2.0
  store float %double, ptr addrspace(1) %at
  br label %end
end:
  ret void
}}
declare i32 @llvm.amdgcn.workitem.id.x()
attributes #0 = {{ "amdgpu-flat-work-group-size"="1,1024" }}
!llvm.module.flags = !{{!0}}
!0 = !{{i32 1, !"amdhsa_code_object_version", i32 500}}
"""


@functools.cache
def doubling_kernel(target: str = "gfx1201", name: str = "double_value") -> bytes:
    """Return a code object with one kernel: (float* out, i32 n, float value), out[i] = 2 * value
    for i < n."""
    return linked(_KERNEL.format(name=name), target)


def linked(llvm: str, target: str = "gfx1201") -> bytes:
    """Compile and link LLVM IR."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(llvm)
    machine = binding.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(
        cpu=target, reloc="pic"
    )
    with tempfile.TemporaryDirectory() as folder:
        object_file, code_object = Path(folder) / "kernel.o", Path(folder) / "kernel.hsaco"
        object_file.write_bytes(machine.emit_object(module))
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "ld.lld",
            "-shared",
            "-o",
            str(code_object),
            str(object_file),
        ]
        subprocess.run(command, check=True)
        return code_object.read_bytes()
