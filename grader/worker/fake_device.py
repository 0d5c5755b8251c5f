"""A fake device, which shows without a GPU whether code creates its tensors on the device of its inputs.

Tensors that report the device "meta" compute with real values on the CPU. Mixing them with tensors on the CPU fails as
it would on a GPU. Torch's own meta tensors are not used for two reasons: their kernels import sympy and torch._dynamo,
which takes almost a second in each fork, and they hold no values, so that correct code with an `if` on a number would
fail.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .modules import parts, table

DEVICE = torch.device("meta")
MIXED = "tensors are not on the same device"
NO_NUMPY = "can't convert a tensor of another device to numpy. Use Tensor.cpu() to copy it to host memory first."
FACTORIES = {torch.tensor, torch.as_tensor, torch.asarray}
BRACKETS = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
READING = {torch.Tensor.tolist, torch.Tensor.__format__}
# Operations that may mix devices.
CROSSING = {"aten::copy_", "aten::_to_copy", "aten::set_", "aten::_local_scalar_dense"}
INDEXING = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_unsafe_index"}
MOVED = "_on_fake_device"  # the attribute of a moved Parameter that holds the Placed tensor with its values


def each(change: Callable[[torch.Tensor], Any], value: Any) -> Any:
    """The value with `change` applied to every tensor inside. torch's tree_map takes ten times as long."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: each(change, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        changed = [each(change, item) for item in value]
        if type(value) in (list, tuple) or not hasattr(value, "_fields"):
            return type(value)(changed)  # also torch's own named tuples, such as the result of max
        return type(value)(*changed)
    return value


def tensors_in(value) -> list[torch.Tensor]:
    """Every tensor inside a value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for item in items for tensor in tensors_in(item)]


class Placed(torch.Tensor):
    """A tensor that reports the fake device as its device. `inner` holds its values on the CPU."""

    inner: torch.Tensor  # type: ignore[assignment]  # torch's Tensor has a method of this name
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

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
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):  # type: ignore[override]
        return compute(function, args, kwargs or {})


class Mode(TorchDispatchMode):
    """A mode that lets torch be without its compiler."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise torch imports torch._dynamo at the first call, which takes most of a second


class FakeDevice(Mode):
    """While this mode is active, `device="meta"` (as in `device=x.device`) creates tensors on the fake device too."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return compute(function, args, kwargs or {})


@contextlib.contextmanager
def fake_device() -> Iterator[None]:
    """Within the block tensors can be made on the fake device, and no graph is."""
    with torch.no_grad(), Factories(), FakeDevice():
        yield


class Factories(TorchFunctionMode):
    """Handles the functions that do not go through the dispatcher.

    torch.tensor and similar functions create their tensor on the CPU, and it is then moved. tolist and format read the
    values, as they would on a GPU. numpy raises TypeError, as it would there. Lists as indices become tensors on the
    CPU: torch itself would make them tensors of the device "meta", which hold no values.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in READING and args and isinstance(args[0], Placed):
            return function(args[0].inner, *args[1:], **kwargs)
        if function in (torch.Tensor.numpy, torch.Tensor.__array__) and args and isinstance(args[0], Placed):
            raise TypeError(NO_NUMPY)
        if function in BRACKETS and isinstance(args[0], Placed):
            return function(args[0], _indices(args[1]), *args[2:])
        device = kwargs.get("device")
        if function is torch.Tensor.new_tensor:
            kwargs.setdefault("dtype", args[0].dtype)
            device = args[0].device if device is None else device
            function, args = torch.tensor, args[1:]
        if function is torch.tensor and args and isinstance(args[0], (list, tuple)):
            args = (_values(args[0]), *args[1:])
        if function not in FACTORIES or device is None or torch.device(device) != DEVICE:
            return function(*args, **kwargs)
        return function(*args, **{**kwargs, "device": "cpu"}).to(DEVICE)


def move_module(module: torch.nn.Module) -> None:
    """Move a module to the fake device, in place, as Module.to does.

    Module._apply is not used: a new nn.Parameter around a Placed would make torch import torch.distributed and sympy,
    which takes a second in each fork. A real move keeps the Parameter objects, so that code which holds a reference to
    one finds it moved too. Each Parameter therefore gets an attribute, MOVED, with its values on the fake device.
    """
    for _, submodule in parts(module):
        tensors = table(submodule, "_parameters")
        for name, parameter in tensors.items():
            if parameter is not None:
                tensors[name] = vars(parameter).setdefault(MOVED, Placed(parameter.detach().cpu()))
                tensors[name]._is_param = True  # isinstance(…, nn.Parameter) reads it, for example in get_parameter
        buffers = table(submodule, "_buffers")
        for name, buffer in buffers.items():
            if buffer is not None:
                buffers[name] = Placed(buffer.detach().cpu())


def place(value):
    """Put every tensor inside a value on the fake device."""
    return each(lambda tensor: tensor if isinstance(tensor, Placed) else Placed(tensor.detach().cpu()), value)


def compute(function, args: tuple, kwargs: dict):
    """The result of one operation, computed with the values on the CPU. Raises RuntimeError where it mixes devices."""
    if torch.is_inference_mode_enabled():  # torch keeps no version counter for a wrapper that is made in this mode
        with torch.inference_mode(False):
            return compute(function, args, kwargs)
    schema = function._schema
    tensors: list[torch.Tensor] = []
    inner_args = [_inner_values(value, tensors) for value in args]
    inner_kwargs = {key: _inner_values(value, tensors) for key, value in kwargs.items()}
    placed = any(type(tensor) is Placed for tensor in tensors)
    if placed and len(tensors) > 1 and schema.name not in CROSSING:
        if schema.name in INDEXING:  # indices may lie on the CPU
            tensors = []
            _inner_values((args[:1], args[2:], *kwargs.values()), tensors)
        if any(type(tensor) is not Placed and tensor.ndim > 0 for tensor in tensors):
            raise RuntimeError(MIXED)
    device = inner_kwargs.get("device")
    if device is not None:
        placed, inner_kwargs["device"] = torch.device(device) == DEVICE, "cpu"
    result = function(*inner_args, **inner_kwargs)
    if args and schema.is_mutable and isinstance(result, torch.Tensor):
        changed = _move(args[0])
        if type(changed) is Placed and torch.Tag.inplace_view in function.tags:
            with torch._C._DisableTorchDispatch():  # squeeze_ and similar ones: the wrapper gets the new sizes too
                function(changed, *args[1:], **kwargs)
        return changed
    return each(_place, result) if placed else result


def _inner_values(value, tensors: list[torch.Tensor]):
    """An argument of an operation with its values on the CPU. The tensors in the argument are added to `tensors`."""
    if isinstance(value, torch.Tensor):
        value = _move(value)
        tensors.append(value)
        return value.inner if type(value) is Placed else value
    if isinstance(value, (list, tuple)):
        return [_inner_values(item, tensors) for item in value]
    return value


def _place(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if isinstance(tensor, Placed) else Placed(tensor)


def _move(value):
    """The Placed tensor of a Parameter that was moved; any other value as it is."""
    return vars(value).get(MOVED, value) if type(value) is torch.nn.Parameter else value


def _values(value):
    """A list with numbers in the place of scalar tensors on the fake device, as torch.tensor reads them on a GPU."""
    if isinstance(value, (list, tuple)):
        return [_values(item) for item in value]
    return value.inner.item() if isinstance(value, Placed) and value.ndim == 0 else value


def _indices(value):
    """An index with tensors on the CPU in the place of lists and ranges of numbers."""
    if isinstance(value, tuple):
        return tuple(_indices(item) for item in value)
    if not isinstance(value, (list, range)):
        return value
    numbers = _values(list(value))
    try:
        return torch.tensor(numbers, dtype=None if numbers else torch.int64)
    except (TypeError, ValueError, RuntimeError):  # of slices, say, or of tensors: torch takes it for a tuple
        return value
