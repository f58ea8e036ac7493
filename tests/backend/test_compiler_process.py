"""LLVM runs in a process of its own: input that ends this process refuses one kernel and ends
nothing else."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import amdjit
from amdjit import InlineAsm, LlvmCall, PerformanceWarning, f16, f32, i32, intrinsic
from amdjit.backend.process import CompilerDied, CompilerProcess, NoProcess, compiler_process
from amdjit.diagnostics.errors import BackendError

IR = (
    "define protected amdgpu_kernel void @k(ptr addrspace(1) %p) {\n  store i32 7, ptr "
    "addrspace(1) %p\n  ret void\n}\n"
)
REQUEST = ("optimise", IR, "gfx1201", 32, 3)


@intrinsic(LlvmCall("llvm.arithmetic.fence.{a}"))
def fenced(a: f16) -> f16: ...


@intrinsic(LlvmCall("llvm.tan.{a}"))
def tangent(a: f32) -> f32: ...


@intrinsic(InlineAsm("v_mov_b32 $0, $1", "={v999},v"))
def moved(a: i32) -> i32: ...


def fenced_uniform(x: f16[:], out: f16[:]) -> None:
    out[0] = fenced(x[3])


def no_function(x: f32[:], out: f32[:]) -> None:
    out[0] = tangent(x[3])


def no_register(x: i32[:], out: i32[:]) -> None:
    out[0] = moved(x[3])


def harmless(x: i32[:], out: i32[:]) -> None:
    out[0] = x[3] + 1


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep nothing from other tests; return the folder of the cache."""
    monkeypatch.setenv("AMDJIT_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def process() -> Iterator[CompilerProcess]:
    process = CompilerProcess()
    yield process
    process.stop()


def run_script(script: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a new process without a cache."""
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(script))
    variables = {**os.environ, "AMDJIT_CACHE_DIR": "", **environment}
    return subprocess.run(
        [sys.executable, str(file)],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (fenced_uniform, "illegal VGPR to SGPR copy"),
        (no_function, "no libcall available for ftan"),
        (no_register, "couldn't allocate output register"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_ends_llvm_refuses_the_kernel_and_leaves_a_file(
    kernel: object, said: str, no_cache: Path
) -> None:
    function = amdjit.kernel(kernel)  # type: ignore[call-overload]
    with pytest.raises(BackendError) as caught:
        function.compile(target="gfx1201")
    text = str(caught.value)
    assert said in text
    assert (
        f"`{function.__name__}` "
        f"(test_compiler_process.py:{function.function.__code__.co_firstlineno})" in text
    )
    file = Path(re.findall(r"\S+\.ll", text)[0])
    assert file.parent == no_cache
    report = file.read_text()
    assert f"@{function.__name__}(" in report
    assert "llvmlite" in report
    assert "opt_level=3, wave_size=32" in report
    # Wherever the cache has no folder, there is one for temporary files.
    assert amdjit.kernel(harmless, warnings=False).compile(target="gfx1201").code_object


def test_the_file_of_a_kernel_that_llvm_fails_on_reproduces_the_failure(no_cache: Path) -> None:
    with pytest.raises(BackendError) as caught:
        amdjit.kernel(no_function).compile(target="gfx1201")
    file = Path(re.findall(r"\S+\.ll", str(caught.value))[0])
    with pytest.raises(CompilerDied, match="ended with exit code 1"):
        compiler_process().run(60, "emit_object_or_assembly", file.read_text(), "gfx1201", 32, 3)


def test_a_process_that_was_killed_between_two_compilations_is_replaced(
    process: CompilerProcess,
) -> None:
    assert "store i32 7" in process.run(60, *REQUEST)
    assert process._process is not None
    process._process.kill()
    process._process.exit_code()
    assert "store i32 7" in process.run(60, *REQUEST)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_process_that_is_killed_while_it_compiles_refuses_the_kernel(
    process: CompilerProcess,
) -> None:
    process.run(60, *REQUEST)
    assert process._process is not None
    # Stopped, it cannot be done before it is killed.
    os.kill(process._process.pid, signal.SIGSTOP)
    threading.Timer(0.05, process._process.kill).start()
    with pytest.raises(CompilerDied, match="ended by SIGKILL"):
        process.run(60, *REQUEST)
    assert "store i32 7" in process.run(60, *REQUEST)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_compilation_that_does_not_end_is_given_up(process: CompilerProcess) -> None:
    process.run(60, *REQUEST)
    assert process._process is not None
    os.kill(process._process.pid, signal.SIGSTOP)
    with pytest.raises(CompilerDied, match=r"took more than 0\.1 seconds"):
        process.run(0.1, *REQUEST)
    assert "store i32 7" in process.run(60, *REQUEST)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_the_time_limit_is_the_environments(
    no_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    amdjit.kernel(harmless, warnings=False).compile(target="gfx1201", opt_level=2)
    process = compiler_process()._process
    assert process is not None
    # Stopped, it cannot be done before the time is over.
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setenv("AMDJIT_COMPILE_TIME_LIMIT", "0.05")
    with pytest.raises(
        BackendError, match=r"LLVM took more than 0\.05 seconds while it compiled `harmless`"
    ):
        amdjit.kernel(harmless, warnings=False).compile(target="gfx1201", opt_level=1)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "program", ["", "/nowhere/python3", sys.executable + "-missing", "/bin/true"]
)
def test_where_no_process_can_be_started_one_is_told_once(program: str, tmp_path: Path) -> None:
    script = f"""
        import sys, warnings
        import amdjit
        from amdjit import i32
        def one(out: i32[:]): out[0] = 1
        def two(out: i32[:]): out[0] = 2
        sys.executable = {program!r}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for kernel in (one, two):
                assert amdjit.kernel(kernel).compile(target="gfx1201").code_object
        print(len(told), told[0].category.__name__, "llvmlite.binding" in sys.modules)
    """
    done = run_script(script, tmp_path)
    assert done.stdout.split() == ["1", "RuntimeWarning", "True"], done.stderr


def test_a_python_that_does_not_answer_is_no_process(
    process: CompilerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "amdjit.backend.process._start_text", lambda: "import sys; sys.exit('not here')"
    )
    with pytest.raises(NoProcess, match="not here"):
        process.run(60, *REQUEST)
    with pytest.raises(NoProcess, match="not here"):
        process.start()


def test_the_guard_can_be_turned_off(tmp_path: Path) -> None:
    script = """
        import sys, amdjit
        from amdjit import i32
        def one(out: i32[:]): out[0] = 1
        amdjit.kernel(one).compile(target="gfx1201")
        print("llvmlite.binding" in sys.modules)
    """
    assert run_script(script, tmp_path, AMDJIT_COMPILE_GUARD="0").stdout.strip() == "True"
    assert run_script(script, tmp_path, AMDJIT_COMPILE_GUARD="1").stdout.strip() == "False"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_process_has_a_compiler_of_its_own(tmp_path: Path) -> None:
    script = """
        import multiprocessing, os
        import amdjit
        from amdjit import i32
        from amdjit.backend.process import compiler_process

        def one(out: i32[:]): out[0] = 1

        def compiled(level):
            amdjit.kernel(one, warnings=False).compile(target="gfx1201", opt_level=level)
            return compiler_process()._process.pid

        if __name__ == "__main__":
            mine = compiled(3)
            child = os.fork()
            if child == 0:
                os._exit(compiled(2) == mine)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert compiled(1) == mine
            for method in ("fork", "spawn"):
                # A pool's processes are daemonic.
                with multiprocessing.get_context(method).Pool(2) as pool:
                    assert mine not in pool.map(compiled, [0, 1, 2, 3])
            assert compiled(0) == mine
            print("done")
    """
    done = run_script(script, tmp_path)
    assert done.stdout.strip() == "done", done.stderr


def test_many_threads_compile_at_once(no_cache: Path) -> None:
    sizes: list[int] = []

    def compile_one(level: int) -> None:
        sizes.append(
            len(
                amdjit.kernel(harmless, warnings=False)
                .compile(target="gfx1201", opt_level=level)
                .code_object
            )
        )

    threads = [threading.Thread(target=compile_one, args=(n % 4,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sizes) == 12


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_an_interrupted_compilation_ends_and_the_next_one_is_right(tmp_path: Path) -> None:
    script = """
        import os, signal, threading
        from amdjit.backend.process import CompilerProcess
        # Born in the background a process ignores the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        request = {request!r}
        process = CompilerProcess()
        expected = process.run(60, *request)
        os.kill(process._process.pid, signal.SIGSTOP)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            process.run(60, *request)
        except KeyboardInterrupt:
            print(process.run(60, *request) == expected)
    """
    done = run_script(script.replace("{request!r}", repr(REQUEST)), tmp_path)
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.sample(2)
@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="needs a process table in /proc: not on Windows"
)
@pytest.mark.parametrize("end", ["", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_the_process_ends_with_its_parent(end: str, tmp_path: Path) -> None:
    script = f"""
        import os
        from amdjit.backend.process import compiler_process
        compiler_process().run(60, *{REQUEST!r})
        print(compiler_process()._process.pid, flush=True)
        {end}
    """
    done = run_script(script, tmp_path)
    assert done.stderr == ""
    place = Path("/proc", done.stdout.strip())
    deadline = time.monotonic() + 10
    while place.exists() and "(zombie)" not in place.joinpath("status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def not_unrolled(x, n):
    total = 0.0
    for i in amdjit.unroll(range(n)):
        if x[i] > 3.0:
            break
        amdjit.syncthreads()
        total += x[i]
    x[amdjit.threadIdx.x] = total


def test_what_llvm_says_is_a_warning_with_its_line_that_can_be_turned_off(
    capfd: pytest.CaptureFixture[str],
) -> None:
    first = not_unrolled.__code__.co_firstlineno
    with pytest.warns(PerformanceWarning, match="LLVM: loop not unrolled") as told:
        amdjit.kernel(not_unrolled).compile("void(float32[:], int32)", target="gfx1201")
    assert [Path(each.filename).name for each in told] == [Path(__file__).name]
    assert first < told[0].lineno <= first + 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        silent = amdjit.kernel(not_unrolled, warnings=False)
        silent.compile("void(float32[:], int32)", target="gfx1201", opt_level=2)
    assert "unrolled" not in "".join(capfd.readouterr())
