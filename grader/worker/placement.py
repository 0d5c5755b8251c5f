"""A pretend device: does code make its tensors where its inputs are? No GPU is needed to tell.

Tensors that claim to lie on the device "meta" compute with real values on the CPU. Mixing them with
tensors that were made on the CPU fails as it would on a GPU. Torch's own meta kernels would do, but
they import sympy and torch._dynamo: almost a second in each fork; and they hold no values, so that
right code with an `if` on a number could not run.
"""

import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = torch.device("meta")
MIXED = "tensors are not on the same device"
CROSSING = {"aten::copy_", "aten::_to_copy", "aten::set_", "aten::_local_scalar_dense"}
INDEXING = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_unsafe_index"}


class Placed(torch.Tensor):
    """A tensor that says it is on the pretend device; `inner` holds its values on the CPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner: torch.Tensor):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=DEVICE,
        )

    def __init__(self, inner: torch.Tensor):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


class PretendDevice(TorchDispatchMode):
    """Within it, `device="meta"` (as in `device=x.device`) makes pretended tensors too."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports torch._dynamo at the first call: most of a second

    def __enter__(self):
        self._no_grad = contextlib.ExitStack()
        self._no_grad.enter_context(torch.no_grad())
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self._no_grad.close()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


def place(value):
    """Put every tensor inside a value on the pretend device."""
    return tree_map(lambda v: Placed(v.detach()) if _plain(v) else v, value)


def report(value):
    """Turn pretended tensors into empty ones on "meta", which can be told apart and sent."""
    return tree_map(lambda v: torch.empty(v.shape, dtype=v.dtype, device=DEVICE) if isinstance(v, Placed) else v, value)


def compute(function, args: tuple, kwargs: dict):
    """Run one operation on the values. Raises RuntimeError where it mixes devices."""
    name = function._schema.name
    judged = (args[:1], args[2:], kwargs) if name in INDEXING else (args, kwargs)
    leaves = tree_flatten(judged)[0]
    placed = any(isinstance(leaf, Placed) for leaf in tree_flatten((args, kwargs))[0])
    if placed and name not in CROSSING and any(_plain(leaf) and leaf.ndim > 0 for leaf in leaves):
        raise RuntimeError(MIXED)
    device = kwargs.get("device")
    if device is not None:
        placed = torch.device(device) == DEVICE
        kwargs = {**kwargs, "device": "cpu"}
    plain_args, plain_kwargs = tree_map(_inner, (args, kwargs))
    result = function(*plain_args, **plain_kwargs)
    if function._schema.is_mutable and args and isinstance(result, torch.Tensor):
        return args[0]
    return tree_map(lambda v: Placed(v) if _plain(v) else v, result) if placed else result


def _inner(value):
    return value.inner if isinstance(value, Placed) else value


def _plain(value) -> bool:
    return isinstance(value, torch.Tensor) and not isinstance(value, Placed)
