"""Every contract of import-linter fails if a module gets an import that it forbids."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

import grimp
from importlinter.application.use_cases import _register_contract_types, read_user_options
from importlinter.configuration import configure
from importlinter.domain.contract import Contract, registry

ROOT = Path(__file__).parents[1]
FRONT_END = "amdjit.frontend"
PROBES = (
    ("Layers import downward only", "amdjit.tree.nodes", f"{FRONT_END}.program"),
    ("Layers import downward only", "amdjit.lowering.types", f"{FRONT_END}.values.kinds"),
    (
        "Rooms of the front end import downward only",
        f"{FRONT_END}.values.kinds",
        f"{FRONT_END}.building.builder",
    ),
    (
        "Rooms of the front end import downward only",
        f"{FRONT_END}.calls.dispatch",
        f"{FRONT_END}.statements.loops",
    ),
    (
        "Modules of the front end, the tree and the lowering import each other without cycles",
        "amdjit.lowering.types",
        "amdjit.lowering.memory",
    ),
    (
        "Modules of the front end, the tree and the lowering import each other without cycles",
        f"{FRONT_END}.expressions.fields",
        f"{FRONT_END}.expressions.subscripts",
    ),
    (
        "Source files are read in frontend/source only",
        f"{FRONT_END}.names.annotation_places",
        "linecache",
    ),
    (
        "The typed tree is plain data: no compile options, no NumPy, no inspection of functions",
        "amdjit.tree.walk",
        "amdjit.options",
    ),
    ("Python's ast is read in the front end only", "amdjit.lowering.expressions", "ast"),
    (
        "LLVM is known to lowering, the backend and the emulator only",
        f"{FRONT_END}.session",
        "llvmlite",
    ),
)


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("amdjit", include_external_packages=True)


@cache
def contracts() -> dict[str, Contract]:
    configure()
    options = read_user_options(str(ROOT / "pyproject.toml"))
    _register_contract_types(options)
    return {
        chosen["name"]: registry.get_contract_class(chosen["type"])(
            chosen["name"], options.session_options, chosen
        )
        for chosen in options.contracts_options
    }


@pytest.mark.parametrize(("contract", "importer", "imported"), PROBES)
def test_a_forbidden_import_breaks_the_contract(
    contract: str, importer: str, imported: str
) -> None:
    probed = deepcopy(graph())
    assert importer in probed.modules
    if imported not in probed.modules:
        probed.add_module(imported, is_squashed=True)
    probed.add_import(importer=importer, imported=imported)
    assert contracts()[contract].check(deepcopy(graph()), verbose=False).kept
    assert not contracts()[contract].check(probed, verbose=False).kept
