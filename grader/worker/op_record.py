"""Records what torch ran in one call: the name of each operation, and the shapes that went in and came out.

Torch's dispatcher tells them below whatever name the code called them by. Ready-made attention falls apart into other
operations on some devices before it gets there, so it is also met where it is called: by the function itself, not by
a name, which anybody can give to a function. What it is made of is then left out.

As the watch (op_watch.py), this is a guard rail in the learner's own process. Where something of the learner's own
computes between the code and torch, the record says that it is not whole; the grader judges the rest.
"""

from collections.abc import Iterator

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode

from .fake_device import FakeDevice, Placed
from .op_watch import OWN_FUNCTION, TORCHS_OWN, OpWatch, own_parts
from .operations import plain
from .reply_fields import MAX_OPERATIONS, MAX_SHAPES

# Why a record is not whole; the grader repeats these words and no others.
TOO_MANY = f"more than {MAX_OPERATIONS:,} operations of torch run in one call"
OWN_DISPATCH = "a class or a mode of the file's own stands between its code and torch"
NOT_WHOLE = (TOO_MANY, OWN_DISPATCH)
PACKET = torch.ops.aten.scaled_dot_product_attention
WHOLE = (torch.nn.functional.scaled_dot_product_attention, PACKET, PACKET.default)
ATTENTION = WHOLE[0].__name__
SIZE = torch._C.TensorBase.size
PLAIN = (torch.Tensor, torch.nn.Parameter, Placed)


class OpRecord(TorchDispatchMode):
    """Notes the operations that run within it: rows of [name, input shapes, output shapes], in their order.

    problem: why `rows` is not all of them (one of NOT_WHOLE), or None.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports torch._dynamo at the first call: most of a second

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list] = []
        self.problem: str | None = None
        self.within = False  # an operation whose parts are left out
        self._calls = Calls(self)

    def __enter__(self):
        around = _get_current_dispatch_mode()
        if around is not None and type(around) not in (FakeDevice, OpWatch):
            self.problem = OWN_DISPATCH
        self._calls.__enter__()
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self._calls.__exit__(*exception)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if any(kind not in PLAIN for kind in types):
            self.problem = OWN_DISPATCH
        if not self.within:
            self.note(plain(function._schema.name), (args, kwargs or {}), result)
        return result

    def whole(self, function, args: tuple, kwargs: dict):
        """Run an operation that is noted as one, without its parts."""
        self.within = True
        try:
            result = function(*args, **kwargs)
        finally:
            self.within = False
        self.note(ATTENTION, (args, kwargs), result)
        return result

    def note(self, name: str, given: object, result: object) -> None:
        if len(self.rows) == MAX_OPERATIONS:
            self.problem = self.problem or TOO_MANY
            return
        self.rows.append([name, self._shapes(given), self._shapes(result)])

    def _shapes(self, value: object) -> list[list[int]]:
        shapes = []
        for tensor in _tensors(value):
            if type(tensor) not in PLAIN:
                self.problem = OWN_DISPATCH
            elif len(shapes) < MAX_SHAPES:
                shapes.append(list(SIZE(tensor)))
        return shapes


class Calls(TorchFunctionMode):
    """Hands calls of what is noted as one operation to a record."""

    def __init__(self, record: OpRecord):
        super().__init__()
        self.record = record

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if any(kind not in TORCHS_OWN and OWN_FUNCTION in own_parts(kind) for kind in types):
            self.record.problem = OWN_DISPATCH
        if any(function is one for one in WHOLE):  # not equal to one: that, an object can say of itself
            return self.record.whole(function, args, kwargs or {})
        return function(*args, **(kwargs or {}))


def _tensors(value: object) -> Iterator[torch.Tensor]:
    """The tensors among the arguments or results of an operation."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
