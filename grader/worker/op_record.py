"""Records the operations that torch runs in one call: the name of each, and the shapes of its inputs and outputs.

The operations are recorded in torch's dispatcher, so that it does not matter under which name the code called them. On
some devices, ready-made attention is decomposed into other operations before it reaches the dispatcher. It is therefore
recorded where it is called, and its parts are left out. It is recognized by the identity of the function, because any
function can have its name.

The record is made in the process that runs the learner's code. Where a class or a mode of
the learner's stands between the code and torch, the record says that it is incomplete, and the grader judges that.
"""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _get_current_dispatch_mode

from .fake_device import FakeDevice, Mode, Placed, tensors_in
from .operations import plain
from .protocol import MAX_OPERATIONS, MAX_SHAPES

# The reasons why a record is incomplete. The grader shows these texts and no others.
TOO_MANY = f"more than {MAX_OPERATIONS:,} operations of torch run in one call"
OWN_DISPATCH = "a class or a mode of the file's own stands between its code and torch"
NOT_WHOLE = (TOO_MANY, OWN_DISPATCH)
PACKET = torch.ops.aten.scaled_dot_product_attention
RECORDED_AS_ONE = (torch.nn.functional.scaled_dot_product_attention, PACKET, PACKET.default)
ATTENTION = RECORDED_AS_ONE[0].__name__
SIZE = torch._C.TensorBase.size
PLAIN = (torch.Tensor, torch.nn.Parameter, Placed)
TORCHS_OWN = (*torch.Tensor.__mro__, torch.nn.Parameter, Placed)
OWN_FUNCTION = "__torch_function__"


class OpRecord(Mode):
    """Records the operations that run within it, in order, as `rows` of [name, input shapes, output shapes].

    problem: why `rows` is incomplete (one of NOT_WHOLE), or None.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list] = []
        self.problem: str | None = None
        self.within = False  # whether an operation runs whose parts are left out
        self._calls = Calls(self)

    def __enter__(self):
        active_mode = _get_current_dispatch_mode()
        if active_mode is not None and type(active_mode) is not FakeDevice:
            self.problem = OWN_DISPATCH
        self._calls.__enter__()
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self._calls.__exit__(*exception)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if any(tensor_class not in PLAIN for tensor_class in types):
            self.problem = OWN_DISPATCH
        if not self.within:
            self.note(plain(function._schema.name), (args, kwargs or {}), result)
        return result

    def run_as_one(self, function, args: tuple, kwargs: dict):
        """Run ready-made attention and record it as one operation, without its parts. Returns its result."""
        self.within = True
        try:
            result = function(*args, **kwargs)
        finally:
            self.within = False
        self.note(ATTENTION, (args, kwargs), result)
        return result

    def note(self, name: str, inputs: object, result: object) -> None:
        """Add a row for one operation, or the reason why there is no room for it."""
        if len(self.rows) == MAX_OPERATIONS:
            self.problem = self.problem or TOO_MANY
            return
        self.rows.append([name, self._shapes(inputs), self._shapes(result)])

    def _shapes(self, value: object) -> list[list[int]]:
        shapes: list[list[int]] = []
        for tensor in tensors_in(value):
            if type(tensor) not in PLAIN:
                self.problem = OWN_DISPATCH
            elif len(shapes) < MAX_SHAPES:
                shapes.append(list(SIZE(tensor)))
        return shapes


class Calls(TorchFunctionMode):
    """Passes each call of a function that is recorded as one operation to an OpRecord."""

    def __init__(self, record: OpRecord):
        super().__init__()
        self.record = record

    def __torch_function__(self, function, types, args=(), kwargs=None):
        own = [base for kind in types for base in kind.__mro__ if base not in TORCHS_OWN]
        if any(OWN_FUNCTION in vars(base) for base in own):  # a class of the learner's decides what functions do
            self.record.problem = OWN_DISPATCH
        if any(function is recorded for recorded in RECORDED_AS_ONE):  # `is`, since a learner's object can define `==`
            return self.record.run_as_one(function, args, kwargs or {})
        return function(*args, **(kwargs or {}))
