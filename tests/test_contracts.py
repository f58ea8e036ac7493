"""The contracts of import-linter hold what they say: each breaks on an import that it forbids."""

from __future__ import annotations

import ast
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter.application.use_cases import read_user_options
from importlinter.configuration import configure
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

ROOT = Path(__file__).parents[1]

# import-linter's own table of these changes its name from version to version.
KINDS: dict[str, type[Contract]] = {
    "acyclic_siblings": AcyclicSiblingsContract,
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
}

# For each contract imports that it must refuse: the module that imports, and what it imports.
PROBES: dict[str, list[tuple[str, str]]] = {
    "Layers import downward only": [
        ("amdjit.emulator.device", "amdjit.runtime.arrays"),
        ("amdjit.frontend.program", "amdjit.lowering.module"),
        ("amdjit.tree.nodes", "amdjit.frontend.program"),
        ("amdjit.isa.decode", "amdjit.emulator.host.builder"),
        ("amdjit.types", "amdjit.abi.kernarg"),
        ("amdjit.learning.checking", "amdjit.command_line.kernel_files"),
        ("amdjit.options", "amdjit.types"),
        ("amdjit.backend.llvm", "amdjit.compiler"),
    ],
    "Python's ast is known to the front end and to advising only": [
        ("amdjit.lowering.module", "ast"),
        ("amdjit.launching.signature", "ast"),
    ],
    "LLVM is known to lowering, the backend and the emulator only": [
        ("amdjit.intrinsics.wave", "llvmlite"),
        ("amdjit.frontend.program", "llvmlite"),
        ("amdjit.compiler", "llvmlite"),
    ],
    "Processes are started by child_process only": [
        ("amdjit.backend.process", "subprocess"),
        ("amdjit.emulator.device", "subprocess"),
    ],
    "The emulator and isa know code objects only, neither the tree nor the compiler": [
        ("amdjit.emulator.device", "amdjit.tree.nodes"),
        ("amdjit.emulator.layout", "amdjit.lowering.module"),
        ("amdjit.isa", "amdjit.types"),
    ],
    "The backend knows LLVM IR, not the tree": [("amdjit.backend.llvm", "amdjit.tree.nodes")],
    "Which devices there are is known to devices.py only": [
        ("amdjit.launching.prepared", "amdjit.emulator.device"),
        ("amdjit.api", "amdjit.runtime.hip"),
    ],
    "HIP uses what launches share; arguments use arrays, arrays streams": [
        ("amdjit.runtime.staging", "amdjit.runtime.hip"),
        ("amdjit.runtime.streams", "amdjit.runtime.arrays"),
    ],
    "Modules of one room import each other without cycles": [
        ("amdjit.runtime.device", "amdjit.runtime.arrays"),
        ("amdjit.launching.signature", "amdjit.launching.prepared"),
    ],
    "Rooms of the emulator import downward only": [
        ("amdjit.emulator.memory", "amdjit.emulator.checks.race.memory"),
        ("amdjit.emulator.tiers.compilation", "amdjit.emulator.launch.dispatch"),
        ("amdjit.emulator.wave.frame", "amdjit.emulator.instructions.tables"),
        ("amdjit.emulator.scheduling.driver", "amdjit.emulator.instructions.tables"),
        ("amdjit.emulator.host.native_library", "amdjit.emulator.checks.race.native_sources"),
    ],
    "The emulator's checks do not know each other": [
        ("amdjit.emulator.checks.race.tags", "amdjit.emulator.checks.init.kinds"),
        ("amdjit.emulator.checks.findings", "amdjit.emulator.checks.memory.quarantine"),
        ("amdjit.emulator.checks.waits.search", "amdjit.emulator.checks.sync.instrument"),
    ],
    "Modules of one room of the emulator import each other without cycles": [
        ("amdjit.emulator.checks.race.layout", "amdjit.emulator.checks.race.instrument"),
        ("amdjit.emulator.host.builder", "amdjit.emulator.host.native_library"),
    ],
    "Rooms of the front end import downward only": [
        ("amdjit.frontend.values.kinds", "amdjit.frontend.program"),
        ("amdjit.frontend.values.kinds", "amdjit.frontend.source.reading"),
    ],
    "Modules of the front end, the tree and the lowering import each other without cycles": [
        ("amdjit.tree.nodes", "amdjit.tree.printer"),
        ("amdjit.lowering.conversions", "amdjit.lowering.arithmetic"),
    ],
    "Source files are read in frontend/source only": [("amdjit.frontend.program", "linecache")],
    "The typed tree is plain data: no compile options, no NumPy, no inspection of functions": [
        ("amdjit.tree.nodes", "numpy"),
        ("amdjit.tree.printer", "amdjit.options"),
    ],
    "Intrinsics: public namespaces over inner rooms": [
        ("amdjit.intrinsics.models.dots", "amdjit.intrinsics.wave"),
    ],
    "Fragments: views over fragments, fragments over transfers and products, all over operands": [
        ("amdjit.intrinsics.matrix.operands.kinds", "amdjit.intrinsics.matrix.fragments"),
    ],
    "Intrinsics: no module imports another in a circle": [
        ("amdjit.intrinsics.models.dots", "amdjit.intrinsics.models.builtins"),
    ],
    "HIP is loaded by runtime/hip at its first use, and imported nowhere": [
        ("amdjit.runtime.hip.calls", "hip"),
    ],
}

# Contracts on what is known in one place only: the packages where it is known.
KNOWN_TO = {
    "Python's ast is known to the front end and to advising only": {"frontend", "advising"},
    "LLVM is known to lowering, the backend and the emulator only": {
        "backend",
        "emulator",
        "lowering",
    },
    "Processes are started by child_process only": {"child_process"},
}


@cache
def contracts() -> dict[str, dict[str, Any]]:
    """Return the options of each contract in pyproject.toml, by its name."""
    configure()
    options = read_user_options(str(ROOT / "pyproject.toml"))
    return {contract["name"]: contract for contract in options.contracts_options}


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("amdjit", include_external_packages=True, cache_dir=None)


def kept(name: str, imports: grimp.ImportGraph) -> bool:
    """Return whether a contract holds in a graph of imports."""
    options = contracts()[name]
    kind = KINDS[options["type"]]
    session = {"root_packages": ["amdjit"], "include_external_packages": True}
    checked = kind(name=name, session_options=session, contract_options=options)
    return bool(checked.check(deepcopy(imports), verbose=False).kept)


def test_every_contract_has_a_probe() -> None:
    assert set(PROBES) == set(contracts())


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", PROBES)
def test_a_contract_refuses_what_it_forbids(name: str) -> None:
    assert kept(name, graph())
    for importer, imported in PROBES[name]:
        probed = deepcopy(graph())
        assert importer in probed.modules
        if imported not in probed.modules:
            probed.add_module(imported, is_squashed=True)
        assert not probed.direct_import_exists(importer=importer, imported=imported)
        probed.add_import(importer=importer, imported=imported)
        assert not kept(name, probed), f"{importer} may import {imported}"


@pytest.mark.parametrize("name", KNOWN_TO)
def test_a_contract_on_one_place_names_every_other_package(name: str) -> None:
    packages = {child.removeprefix("amdjit.") for child in graph().find_children("amdjit")}
    named = {module.removeprefix("amdjit.") for module in contracts()[name]["source_modules"]}
    assert named == packages - KNOWN_TO[name] - {"__main__"}


# These hold names of modules as texts: the compiler's process makes empty packages of these names,
# the processes of the doctor and the probe run the module that is named, allocations by amdjit's
# own modules are told from those of users, and clang's builtins are pickled as names of a module
# that has been loaded.
NAMES_AS_TEXT = {
    "amdjit.backend.process",
    "amdjit.doctor.examination",
    "amdjit.emulator.checks.memory.quarantine",
    "amdjit.language.pickling",
    "amdjit.probe.processes",
}


_LOADERS = {"late", "importlib.import_module"}


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module of amdjit; an empty one if it loads none by a string."""
    place = ROOT.joinpath(*module.split("."))
    files = (place.with_suffix(".py"), place / "__init__.py")
    file = next((f for f in files if module.startswith("amdjit") and f.is_file()), None)
    text = file.read_text() if file else ""
    return ast.parse(text if '"amdjit.' in text or "import_module" in text else "")


def test_contracts_see_the_modules_that_are_loaded_late() -> None:
    hidden = []
    modules = graph().modules
    for module in modules - NAMES_AS_TEXT:
        texts = {n.value for n in ast.walk(tree_of(module)) if isinstance(n, ast.Constant)}
        seen = graph().find_modules_directly_imported_by(module)
        seen |= {n for n in modules if any(name.startswith(f"{n}.") for name in seen)}
        own = {text for text in texts & modules if str(text).startswith("amdjit.")}
        hidden += [f"{module} loads {name}" for name in own - seen - {module}]
    assert not hidden


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Packages' own modules offer their parts, which may import their siblings through them."""
    imported = {
        module: graph().find_modules_directly_imported_by(module)
        for module in graph().modules
        if module.startswith("amdjit.") and not graph().find_children(module)
    }
    while ends := {m for m in imported if imported[m].isdisjoint(imported)}:
        imported = {m: found for m, found in imported.items() if m not in ends}
    assert not imported, "each of these is in a circle or imports one that is"


def test_modules_are_loaded_late_by_names_that_exist() -> None:
    found = set()
    for module in graph().modules:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in _LOADERS:
                name = node.args[0]
                if isinstance(name, ast.Constant):
                    found.add(str(name.value))
                else:
                    # A package that loads its own parts when they are asked for.
                    assert graph().find_children(module) or module == "amdjit.late", module
    # These are not installed everywhere, or load late like the modules of amdjit.
    outside = {"cloudpickle", "hip", "llvmlite.binding", "matplotlib.figure"}
    outside |= {"rocm.bindings.util.paths", "sitecustomize", "torch"}
    outside |= {name for name in found if name.startswith("triton.")}
    assert found - outside <= graph().modules
    assert len(found) > 5
