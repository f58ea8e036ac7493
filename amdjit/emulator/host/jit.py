"""LLVM for the host: from IR text to object code, and from object code to callable addresses."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from amdjit.emulator.host.builder import NATIVE_PREFIX
from amdjit.forking import Lock, wait_before_fork
from amdjit.late_methods import dataclass

# llvmlite cannot tell whether a thread is inside LLVM.
wait_before_fork(llvm.ffi.lib._lock)

_WIDE_VECTORS = "avx512f"
# LLVM's older linker asks for memory section by section. Where free memory is scattered, sections
# may lie more than 2 GiB apart, which ends the process; JITLink takes one piece for all of them. It
# is not complete for Windows' objects.
_USES_JIT_LINK = sys.platform != "win32"
# LLVM keeps 9 KiB of each library as long as its JIT exists, even when the code is gone. A new JIT
# costs 1.2 ms.
_LIBRARIES_OF_A_JIT = 32


@dataclass(frozen=True, slots=True)
class HostObject:
    """An object file, and the native functions of other objects that it calls."""

    image: bytes
    natives: tuple[str, ...]


class HostCompiler:
    """Compiles IR for the CPU that this process runs on. LLVM objects are not shared between
    threads: one lock guards them."""

    def __init__(self, cpu: str | None = None, without: frozenset[str] = frozenset()) -> None:
        """Compile for this CPU, or for an older one: another name, and the host's features without
        some."""
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features = llvm.get_host_cpu_features()
        for name in without:
            features[name] = False
        self.cpu: str = cpu or llvm.get_host_cpu_name()
        self.features: str = features.flatten()
        self.wide_vectors = bool(features.get(_WIDE_VECTORS, False))
        # Of the processors that run Python, only x86-64 before Ivy Bridge cannot convert in
        # hardware.
        self.converts_halves = bool(features.get("f16c", True))
        self._lock = Lock()
        self._machine = self._target_machine(1)
        self._quick_machine = self._target_machine(0)
        self._jit: Any = None
        self._names = itertools.count()

    @property
    def identity(self) -> str:
        """What object code depends on in addition to the IR: LLVM, processor and features."""
        return f"{llvmlite.__version__}|{llvm.llvm_version_info}|{self.cpu}|{self.features}"

    def _target_machine(self, level: int) -> Any:
        # Level 2 takes longer and its code is no faster; level 0 takes half as long, and its code
        # takes up to three times as long.
        target = llvm.Target.from_default_triple()
        return target.create_target_machine(
            cpu=self.cpu,
            features=self.features,
            opt=level,
            reloc="pic",
            codemodel="small",
            jit=True,
        )

    @property
    def function_attributes(self) -> str:
        """The attributes of every generated function: both sides of a call must agree on how
        vectors are passed.

        With a frame pointer LLVM can align the stack on which it spills vectors. Without one,
        whether they cross cache lines depends on the caller's stack, which makes up to a third of a
        loop's time.
        """
        width = 512 if self.wide_vectors else 256
        return (
            f'nounwind "frame-pointer"="all" "min-legal-vector-width"="{width}" '
            f'"prefer-vector-width"="{width}" '
            f'"target-cpu"="{self.cpu}" "target-features"="{self.features}"'
        )

    def compile(self, text: str) -> HostObject:
        """Turn IR text into an object file. All that the text leaves to do is to put stack slots
        into registers."""
        with self._lock:
            module = self._parse(text)
            natives = _called_natives(module)
            _run_passes(self._machine, module)
            return HostObject(bytes(self._machine.emit_object(module)), natives)

    def compile_quickly(self, text: str) -> HostObject:
        """Turn IR text that has no stack slots into an object file in half the time; its code is
        slower."""
        with self._lock:
            module = self._parse(text)
            natives = _called_natives(module)
            return HostObject(bytes(self._quick_machine.emit_object(module)), natives)

    def _parse(self, text: str) -> Any:
        module = llvm.parse_assembly(text)
        module.triple = llvm.get_default_triple()
        module.data_layout = str(self._machine.target_data)
        module.verify()
        return module

    def link(
        self, objects: Iterable[bytes], imports: Mapping[str, int], exports: Iterable[str]
    ) -> LinkedCode:
        """Make object code callable. Undefined symbols must be in `imports` or in this process."""
        with self._lock:
            builder = llvm.JITLibraryBuilder()
            for image in objects:
                builder.add_object_img(image)
            for name, address in imports.items():
                builder.import_symbol(name, address)
            builder.add_current_process()
            wanted = list(exports)
            for name in wanted:
                builder.export_symbol(name)
            tracker = self._link(builder)
            return LinkedCode(tracker, {name: tracker[name] for name in wanted})

    def _link(self, builder: llvm.JITLibraryBuilder) -> Any:
        """Link in the current JIT, or in a new one: trackers keep theirs alive."""
        number = next(self._names)
        if self._jit is None or number % _LIBRARIES_OF_A_JIT == 0:
            self._jit = llvm.create_lljit_compiler(
                self._target_machine(1), use_jit_link=_USES_JIT_LINK, suppress_errors=True
            )
        return builder.link(self._jit, f"emulated{number}")


class LinkedCode:
    """Host code in memory, which is unmapped with the last reference."""

    def __init__(self, tracker: Any, addresses: dict[str, int]) -> None:
        self._tracker = tracker
        self.addresses = addresses


def _called_natives(module: Any) -> tuple[str, ...]:
    declared = (function.name for function in module.functions if function.is_declaration)
    return tuple(sorted(name for name in declared if name.startswith(NATIVE_PREFIX)))


def _run_passes(machine: Any, module: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    manager = llvm.create_new_function_pass_manager()
    manager.add_sroa_pass()
    manager.add_dead_code_elimination_pass()
    for function in module.functions:
        if not function.is_declaration:
            manager.run(function, builder)
    # llvmlite's own `close` frees nothing: the order of the class's bases hides the method that
    # frees.
    NewPassManager._dispose(manager)
    manager.detach()
