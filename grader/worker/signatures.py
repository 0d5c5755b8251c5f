"""Checks, before a call is made, whether its arguments fit the signature of the function."""

import inspect
import sys
import types

from .modules import MODULE

MAX_SIGNATURES = 200  # cached signatures of one submission


class Signatures:
    """The signatures of one submission's functions. Each is read once, since inspect takes longer than most calls."""

    def __init__(self) -> None:
        # By the function's id: the function (kept alive, so that no other object gets its id), its signature, and the
        # numbers of positional arguments that fit.
        self.cache: dict[tuple[int, bool], tuple[object, inspect.Signature, range]] = {}

    def mismatch(self, target, args: list, kwargs: dict) -> str | None:
        """The signature and why the arguments do not fit it; None where they fit or `target` has no signature."""
        try:
            function = target.forward if isinstance(target, MODULE) else target
            signature, positional = self.read(function)
        except (TypeError, ValueError):
            return None
        if not kwargs and len(args) in positional:
            return None
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"{getattr(function, '__name__', 'call')}{signature}: {error}"[:300]
        return None

    def read(self, function) -> tuple[inspect.Signature, range]:
        """The signature, and how many arguments fit where all are positional. Raises TypeError or ValueError."""
        function_itself = getattr(function, "__func__", function)
        key = (id(function_itself), function_itself is function)
        entry = self.cache.get(key)
        if entry is None or entry[0] is not function_itself:
            signature = inspect.signature(function)
            entry = (function_itself, signature, _positional_counts(signature))
            if type(function_itself) in (types.FunctionType, type) and len(self.cache) < MAX_SIGNATURES:
                self.cache[key] = entry
        return entry[1:]


def _positional_counts(signature: inspect.Signature) -> range:
    """The numbers of positional arguments with which a call without named arguments fits."""
    kinds = [(parameter.kind, parameter.default is parameter.empty) for parameter in signature.parameters.values()]
    if (inspect.Parameter.KEYWORD_ONLY, True) in kinds:
        return range(0)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    least = sum(kind in positional and required for kind, required in kinds)
    has_rest = inspect.Parameter.VAR_POSITIONAL in dict(kinds)
    max_count = sys.maxsize if has_rest else sum(kind in positional for kind, _ in kinds)
    return range(least, max_count + 1)
