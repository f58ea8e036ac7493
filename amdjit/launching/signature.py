"""A kernel's parameters as its function declares them, and a call's arguments bound to them."""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING, Any

from amdjit import frontend
from amdjit.diagnostics import CompileError, LaunchError
from amdjit.language import compile_time
from amdjit.late import late
from amdjit.launching.record_arguments import Annotation
from amdjit.options import CompileOptions

if TYPE_CHECKING:
    import difflib

    from amdjit.intrinsics import python_builtins
else:
    difflib = late("difflib")
    python_builtins = late("amdjit.intrinsics.python_builtins")

__all__ = ["Signature"]


class Signature:
    """The parameters of a kernel: their names, default values and annotations."""

    def __init__(self, kernel: str, function: types.FunctionType, has_types: bool = True) -> None:
        """has_types: whether annotations other than `Const` are types; otherwise they are
        ignored."""
        self.kernel = kernel
        self._function, self._has_types = function, has_types
        self._signature = inspect.signature(function, follow_wrapped=False)
        self.names = tuple(self._signature.parameters)
        self.known_annotations: tuple[Annotation, ...] | None = None

    def annotations(self, options: CompileOptions) -> tuple[Annotation, ...]:
        """Return each parameter's annotation as a type.

        They are evaluated once, at their first use, because a module may define the names in them
        after the kernel.
        """
        if self.known_annotations is None:
            compilation = compile_time.Compilation(options)
            written = frontend.kernel_annotations(
                self._function, compilation, python_builtins.PYTHON_FUNCTIONS
            )
            self.known_annotations = tuple(
                each if self._has_types or isinstance(each, frontend.CompileTime) else None
                for each in written
            )
        return self.known_annotations

    def bind(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Return a call's arguments in the order of the parameters, default values filled in.

        LaunchError where they do not fit the parameters.
        """
        if not keywords and len(arguments) == len(self.names):
            return arguments
        try:
            bound = self._signature.bind(*arguments, **keywords)
        except TypeError as problem:
            if not keywords:
                self.check_count(len(arguments))
            self._check_keywords(keywords)
            raise LaunchError(f"{self.kernel} takes ({', '.join(self.names)}): {problem}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _check_keywords(self, keywords: dict[str, Any]) -> None:
        """Raise LaunchError for a keyword that is not the name of a parameter."""
        for name in keywords:
            if name not in self.names:
                free = [each for each in self.names if each not in keywords]
                near = difflib.get_close_matches(name, free, n=1)
                hint = f" Did you mean `{near[0]}=`?" if near else ""
                raise LaunchError(
                    f"{self.kernel} takes ({', '.join(self.names)}), and has no parameter "
                    f"`{name}`.{hint}"
                )

    def check_count(self, given: int) -> None:
        """Raise LaunchError if there are more or fewer arguments than parameters."""
        if given != len(self.names):
            count = len(self.names)
            takes = f"{count} argument{'' if count == 1 else 's'} ({', '.join(self.names)})"
            raise LaunchError(
                f"{self.kernel} takes {takes}, but {given} {'was' if given == 1 else 'were'} given"
            )

    def at_annotation(self, failure: CompileError) -> CompileError:
        """Return an error about an argument with the place of its parameter's annotation."""
        return frontend.at_annotation(failure, self._function)
