"""Kernels, device functions and intrinsics in pickles: by reference, as functions are.

A pickle holds the module and the name, under which the process that reads it finds the object. What
stands in `__main__`, in a notebook or within a function, other processes may not find: where
cloudpickle is loaded (Dask, loky and Numba load it), such a pickle also holds the function itself,
the text that it was compiled from, and its options.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from operator import attrgetter
from pickle import PicklingError, loads
from typing import Any

from amdjit.diagnostics.source_files import adopt, texts_of

__all__ = ["PickledByName"]

_BUILTINS = "amdjit.intrinsics.amdgcn"


class PickledByName:
    """What pickle writes as a reference to a variable of a module. Copies are the object itself."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return how to find the object in another process; PicklingError if there is no way."""
        place = _place(self)
        if place is not None and place[0] != "__main__":
            return _found, place
        contents = _contents(self)
        if place is None and contents is None:
            raise PicklingError(
                f"{_described(self)} cannot be pickled: pickle finds it by its name, as functions, "
                "but it is not a variable of a module. Define it at the top of a module, or import "
                "cloudpickle, which takes it along"
            )
        return _found_or_made, (_described(self), place, contents)

    def __copy__(self) -> Any:
        """Return the object itself."""
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        """Return the object itself."""
        return self

    def pickled_parts(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return what makes such an object, and the arguments."""
        assert is_dataclass(self)
        return type(self), tuple(getattr(self, each.name) for each in fields(self))


def _described(value: Any) -> str:
    function = _function(value)
    return repr(value) if function is None else f"`{function.__qualname__}`"


def _function(value: Any) -> types.FunctionType | None:
    found = getattr(value, "function", None) or getattr(value, "reference", None)
    return found if isinstance(found, types.FunctionType) else None


def _place(value: Any) -> tuple[str, str] | None:
    """Return the module and the name of the variable that holds a value."""
    function = _function(value)
    if function is not None and _at(function.__module__, function.__qualname__) is value:
        return function.__module__, function.__qualname__
    if _at(_BUILTINS, getattr(value, "name", "")) is value:  # they are made when asked for
        return _BUILTINS, value.name
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "amdjit" and module is not None:
            for variable, held in vars(module).items():
                if held is value:
                    return name, variable
    return None


def _at(module: str | None, name: str) -> Any:
    """Return a variable of a loaded module, None if there is none."""
    try:
        return attrgetter(name)(sys.modules[module or ""])
    except (AttributeError, KeyError):
        return None


def _found(module: str, name: str) -> Any:
    """Return a variable of a module."""
    __import__(module)
    return _at(module, name)


def _contents(value: PickledByName) -> bytes | None:
    """Return what makes the object in another process, None without cloudpickle."""
    loaded = (sys.modules.get(name) for name in ("cloudpickle", "numba.cloudpickle"))
    cloudpickle: Any = next(filter(None, loaded), None)
    if cloudpickle is None:
        return None
    make, parts = value.pickled_parts()
    taken = [
        (
            function,
            function.__code__.co_filename,
            known.text.lines,
            known.is_early,
            _annotating(function, known.text.lines),
        )
        for function in _functions(_function(value), [])
        for known in texts_of(function)[:1]
    ]
    return bytes(cloudpickle.dumps((make, parts, taken)))


def _annotating(function: types.FunctionType, lines: tuple[str, ...]) -> dict[str, Any]:
    """Return the types and modules that a function's text names, among them those of annotations:
    the code does not refer to them, so cloudpickle leaves them behind."""
    code, scope = function.__code__, function.__globals__
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    text = "".join(lines[code.co_firstlineno - 1 : last])
    return {
        name: scope[name]
        for name in set(re.findall(r"[^\W\d]\w*", text)) & scope.keys()
        if isinstance(scope[name], (type, types.ModuleType))
        or (_is_own(type(scope[name])) and not isinstance(scope[name], PickledByName))
    }


def _functions(
    function: types.FunctionType | None, seen: list[types.FunctionType]
) -> Iterator[types.FunctionType]:
    """Yield a function and the undecorated ones that it calls, which are pickled with it."""
    if function is None or function in seen:
        return
    seen.append(function)
    yield function
    names = map(function.__globals__.get, function.__code__.co_names)
    cells = (cell.cell_contents for cell in function.__closure__ or () if _is_full(cell))
    for value in (*names, *cells):
        if type(value) is types.FunctionType and not _is_importable(value):
            yield from _functions(value, seen)


def _is_importable(function: types.FunctionType) -> bool:
    module = function.__module__
    return module != "__main__" and _at(module, function.__qualname__) is function


def _is_own(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "amdjit"


def _is_full(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _found_or_made(what: str, place: tuple[str, str] | None, contents: bytes | None) -> Any:
    """Return the variable of `__main__` if it is the same object here, too, else make it."""
    here = None if place is None else _at(*place)
    if contents is None:
        if isinstance(here, PickledByName):
            return here
        raise AttributeError(
            f"{what} was pickled as a variable of __main__, which this process does not have: "
            "define it in a module, or import cloudpickle where it is pickled"
        )
    make, parts, taken = loads(contents)
    for function, file, lines, is_early, annotating in taken:
        # cloudpickle leaves the name of the file out, which messages and debug information have.
        function.__code__ = function.__code__.replace(co_filename=file)
        adopt(function, lines, is_early)
        for name, value in annotating.items():
            function.__globals__.setdefault(name, value)
    made = make(*parts)
    mine, its = _function(here), _function(made)
    is_same = mine is not None and its is not None and mine.__code__ == its.__code__
    return here if type(here) is type(made) and is_same else made
