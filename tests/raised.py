"""An error that must come, as a value."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

E = TypeVar("E", bound=Exception)


def raised(kind: type[E] | tuple[type[E], ...], ask: Callable[..., Any], *args: Any, **kwargs: Any) -> E:
    """The error of this kind that a call raises. The test fails, and shows the call, where it raises none."""
    with pytest.raises(kind) as caught:
        result = ask(*args, **kwargs)
        pytest.fail(f"{ask} with {args} {kwargs} gives {result}")
    return caught.value
