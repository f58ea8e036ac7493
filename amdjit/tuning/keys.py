"""The key under which results are stored: the device, the kernel's source, options, types and key
values."""

from __future__ import annotations

import dis
import hashlib
import inspect
import re
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from amdjit.api import Kernel
from amdjit.diagnostics.source_files import texts_of
from amdjit.options import OptionError
from amdjit.runtime.arrays import DeviceArray
from amdjit.tuning.configurations import Namespace, value_text

__all__ = ["TuningKey", "key_values", "quick_key", "source_digest", "type_texts"]

_PATH = re.compile(r"(?P<name>[^\W\d]\w*)(?P<path>(\.[^\W\d]\w*|\[-?\d+\])*)")
_STEP = re.compile(r"\.([^\W\d]\w*)|\[(-?\d+)\]")
# The digest covers at most about this many functions, so that its time is bounded.
_MOST_SOURCES = 500


@dataclass(frozen=True, slots=True)
class TuningKey:
    """Everything that decides which configuration is best."""

    device: str
    """The target, and also the product's name if it was measured there."""
    kernel: str
    source: str
    """A digest of the kernel and the functions that it calls."""
    options: str
    """The options of the kernel's decorator."""
    types: str
    """The types of the arguments."""
    values: str
    """The values of the `key` of `autotune`."""

    @property
    def digest(self) -> str:
        """A short name."""
        text = "\0".join(asdict(self).values())
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def key_values(keys: tuple[Any, ...], arguments: Mapping[str, Any]) -> str:
    """Return the text of a call's key values.

    A name stands for the argument's value, or for its shape if it is an array; "a.shape[0]" for an
    attribute or item; a function is called with the arguments by name. OptionError for anything
    else.
    """
    return ", ".join(_key_text(each, arguments) for each in keys)


def _key_text(key: Any, arguments: Mapping[str, Any]) -> str:
    if callable(key):
        return value_text(key(Namespace(arguments)))
    value = _looked_up(key, arguments)
    if hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.generic):
        value = tuple(int(extent) for extent in value.shape)
    if isinstance(value, np.generic):
        value = value.item()
    return f"{key}={value_text(value)}"


def _looked_up(key: str, arguments: Mapping[str, Any]) -> Any:
    found = _PATH.fullmatch(key.strip())
    if found is None or found["name"] not in arguments:
        raise OptionError(
            f"key=: {key!r} is not a parameter that a call gives ({', '.join(arguments)}), nor an "
            'attribute or item of one such as "a.shape[0]"; a function of the arguments works, too'
        )
    value = arguments[found["name"]]
    for attribute, item in _STEP.findall(found["path"]):
        try:
            value = getattr(value, attribute) if attribute else value[int(item)]
        except (AttributeError, IndexError, TypeError) as problem:
            raise OptionError(f"key=: {key!r}: {problem}") from None
    return value


def quick_key(keys: tuple[Any, ...], arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a value that differs wherever the texts of types or key values differ, and is computed
    quickly, because every launch needs it."""
    kinds = tuple(map(_kind, arguments.values()))
    values = tuple(
        _plain(arguments[key])
        if isinstance(key, str) and key in arguments
        else _key_text(key, arguments)
        for key in keys
    )
    return kinds, values


def _kind(value: Any) -> Any:
    if isinstance(value, (DeviceArray, np.ndarray)):
        return type(value), value.dtype, len(value.shape), _is_contiguous(value)
    if isinstance(value, (int, float, np.generic)):
        return type(value)
    return _type_text(value)


def _plain(value: Any) -> Any:
    if isinstance(value, (DeviceArray, np.ndarray)):
        return value.shape
    return value if isinstance(value, (int, str, np.generic)) else value_text(value)


def type_texts(arguments: Mapping[str, Any]) -> str:
    """Return the types of arguments as text; for arrays the element, the number of axes and whether
    they are contiguous."""
    return ", ".join(f"{name}: {_type_text(value)}" for name, value in arguments.items())


def _type_text(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, np.generic):
        axes = [":"] * len(value.shape)
        if axes and _is_contiguous(value):
            axes[-1] = "::1"
        return f"{value.dtype}[{', '.join(axes)}]".removeprefix("torch.")
    if isinstance(value, tuple):
        return f"({', '.join(map(_type_text, value))})"
    return type(value).__name__


def _is_contiguous(array: Any) -> bool:
    if isinstance(array, np.ndarray):
        return True  # a copy of it is
    if isinstance(array, DeviceArray):
        return array.is_contiguous
    found = getattr(array, "is_contiguous", True)
    return bool(found() if callable(found) else found)


def source_digest(kernel: Kernel) -> str:
    """Return a digest of the source of a kernel, of the functions that it calls, and of the plain
    values that they read from outside."""
    digest = hashlib.sha256()
    for text in _sources(kernel.function, set()):
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:20]


def _sources(function: types.FunctionType, seen: set[int]) -> Iterator[str]:
    if id(function) in seen or len(seen) > _MOST_SOURCES:
        return
    seen.add(id(function))
    yield _text(function)
    globals_read, attributes = _names(function.__code__)
    outside = _outside(function)
    for name in sorted(globals_read & outside.keys()):
        yield from _value_sources(name, outside[name], sorted(attributes), seen)


def _text(function: types.FunctionType) -> str:
    """Return the text of a function without its decorators, because other settings do not make it
    another kernel."""
    code = function.__code__
    for known in texts_of(function)[:1]:
        block = inspect.getblock(list(known.text.lines[code.co_firstlineno - 1 :]))
        for number, line in enumerate(block):
            if line.lstrip().startswith(("def ", "lambda ")):
                return "".join(block[number:])
    return f"{code.co_code!r} {code.co_consts!r} {code.co_names!r}"


def _names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Return the names that code reads from outside, and the attributes that it reads of them."""
    outside, attributes = set(code.co_freevars), set[str]()
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            outside.add(each.argval)
        elif each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(each.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _names(constant)
            outside |= inner[0]
            attributes |= inner[1]
    return outside, attributes


def _outside(function: types.FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found = dict(function.__globals__)
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def _value_sources(name: str, value: Any, names: list[str], seen: set[int]) -> Iterator[str]:
    if isinstance(value, types.ModuleType):
        if _is_ours(value.__name__):
            return
        for inner in names:
            if inner in vars(value) and id(value) not in seen:
                yield from _value_sources(f"{name}.{inner}", vars(value)[inner], [], seen)
        return
    function = getattr(value, "function", value)
    if isinstance(function, types.FunctionType):
        if not _is_ours(function.__module__):
            yield from _sources(function, seen)
    elif isinstance(value, (bool, int, float, complex, str, bytes, tuple, frozenset, type(None))):
        yield f"{name}={value_text(value)}"


def _is_ours(module: str | None) -> bool:
    """Whether a module belongs to amdjit, whose version is part of the digest, or to Python."""
    first, *rest = (module or "").split(".")
    if first == "amdjit":
        return rest[:1] != ["examples"]
    return first in ("numpy", "math", "builtins") or first in sys.stdlib_module_names
