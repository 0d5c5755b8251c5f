"""Runs the documented checks inside a learner's own notebook, where the grader is not installed.

The text of this module is copied into every documented_checks.py, together with the checks themselves;
course.py puts the parts together. There it is an extension of IPython with the magic `%documented TASK`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

TASKS: dict[int, list[Any]] = {}  # the checks of each task, in order
manual_seed = torch.manual_seed  # what the checks call; the grader's own saves time


def task(number: int, after: str | tuple[str, ...] = ()) -> Callable[[Any], Any]:
    """Note which task of the lesson a check belongs to."""

    def note(check: Any) -> Any:
        """Add the check to its task."""
        TASKS.setdefault(number, []).append(check)
        return check

    return note


class DocumentedCheckFailed(Exception):
    """A check failed. IPython shows its message without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"✘ {self}"]


class Notebook:
    """The fixture `learner` of a check: every attribute is a function or class of the notebook."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        if name not in self._namespace:
            raise Mismatch(f"the notebook defines no {name}: run the cell that does")  # noqa: F821
        return Target(self._namespace[name])


class Target:
    """A function, a class, or a module made of one. Arguments and results are copies."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, seed: Any = None, state: Any = None, **kwargs: Any) -> Any:
        if state is not None and not isinstance(state, dict):  # the code has an argument of this name
            kwargs["state"], state = state, None
        result, _ = self._call(args, kwargs, seed)
        if state is not None:
            result.load(state)
        return result

    def static(self, name: str) -> "Target":
        """A static method of this class."""
        return Target(getattr(self._function, name))

    def read(self) -> Any:
        """The value of an attribute, read without parentheses."""
        if callable(self._function) and not isinstance(self._function, torch.nn.Module):
            name = getattr(self._function, "__name__", "this")
            remedy = "make it an attribute or a property"
            raise Mismatch(f"{name} is a method, but it is read without parentheses: {remedy}")  # noqa: F821
        return _wrap(self._function)

    def inputs_after(self, *args: Any, seed: Any = None, **kwargs: Any) -> list[Any]:
        """The arguments [args, kwargs] as they are after the call."""
        return self._call(args, kwargs, seed)[1]

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], seed: Any) -> tuple[Any, list[Any]]:
        """The result, and [args, kwargs] after the call. seed: an int, or a state of torch's generator."""
        own_args, own_kwargs = _copy(list(args)), _copy(kwargs)
        with torch.random.fork_rng(devices=[]):
            if seed is not None:
                torch.set_rng_state(seed) if isinstance(seed, torch.Tensor) else torch.manual_seed(seed)
            result = self._function(*own_args, **own_kwargs)
        return _wrap(result), [own_args, own_kwargs]


class Module(Target):
    """An object of the learner's class."""

    @property
    def class_name(self) -> str:
        """The name of the learner's class."""
        return type(self._function).__name__

    def __getattr__(self, name: str) -> Any:
        return Target(getattr(self._function, name))

    def __len__(self) -> int:
        return len(self._function)

    def __bool__(self) -> bool:
        return True

    def describe(self, values: bool = True) -> dict[str, Any]:
        """Parameters, the names of the frozen ones, and the mode. values: always given here, where copying is cheap."""
        module = self._function
        if not isinstance(module, torch.nn.Module):
            raise Mismatch(f"{self.class_name} is not a torch.nn.Module. Write class {self.class_name}(nn.Module)")  # noqa: F821
        parameters = dict(module.named_parameters())
        frozen = [name for name, value in parameters.items() if not value.requires_grad]
        return {"parameters": _copy(parameters), "frozen": frozen, "training": module.training}

    def parameters(self, like: dict[str, Any] | None = None) -> dict[str, Any]:
        """Copies of the parameters, by name; by those of `like`, where nothing but the names differs."""
        held = self.describe()["parameters"]
        own = {name: lesson for lesson, name in self.renamed(like or held).items()}
        return {own.get(name, name): value for name, value in held.items()}

    def renamed(self, like: dict[str, Any]) -> dict[str, str]:
        """The lesson's names and the layer's, where nothing else differs; {} else."""
        held = {name: tuple(value.shape) for name, value in self._function.named_parameters()}
        shapes = {name: tuple(getattr(value, "shape", value)) for name, value in like.items()}
        return next(iter(maps(shapes, held)), {}) if held.keys() != shapes.keys() else {}  # noqa: F821

    def load(self, parameters: dict[str, Any]) -> None:
        """Set the parameters. Raises Mismatch where the layer has others."""
        own, names = dict(self._function.named_parameters()), self.renamed(parameters)
        parameters = {names.get(name, name): value for name, value in parameters.items()}
        if set(own) != set(parameters):
            has = ", ".join(own) or "none"
            raise Mismatch(f"{self.class_name} has other parameters than {', '.join(parameters)}: it has {has}")  # noqa: F821
        with torch.no_grad():
            for name, value in parameters.items():
                expect_shape(own[name], tuple(value.shape), f"the parameter {name}")  # noqa: F821
                own[name].copy_(value)

    def to(self, **kwargs: Any) -> "Module":
        """Change dtype or device, as torch.nn.Module.to does."""
        self._function.to(**kwargs)
        return self

    def train(self, mode: bool = True) -> "Module":
        """Switch to training mode, or out of it."""
        self._function.train(mode)
        return self

    def eval(self) -> "Module":
        """Switch to evaluation mode."""
        return self.train(False)


def run(number: int, namespace: dict[str, Any]) -> None:
    """Run the documented checks of one task. namespace: the names of the notebook.

    Raises DocumentedCheckFailed at the first check that fails.
    """
    for check in TASKS.get(number, ()):
        title = check.__doc__.splitlines()[0]
        numbers = {name: parse(name, printed) for name, printed in NUMBERS.get(check.__name__, {}).items()}  # noqa: F821
        fixtures = {"learner": Notebook(namespace), "documented": numbers}
        names = check.__code__.co_varnames[: check.__code__.co_argcount]
        try:
            check(**{name: fixtures[name] for name in names})
        except Mismatch as error:  # noqa: F821
            raise DocumentedCheckFailed("\n".join(filter(None, (title, error.summary, error.details)))) from None
        except NotImplementedError:
            raise DocumentedCheckFailed(f"{title}\nnot written yet") from None
        print(f"✔ {title}")


def trained_state(folder: str) -> dict[str, torch.Tensor]:
    """The parameters of the exercise's trained model, whose file lies beside this one."""
    state: dict[str, torch.Tensor] = torch.load(Path(__file__).with_name("trained.pt"), weights_only=True)
    return state


def load_ipython_extension(ipython: Any) -> None:
    """Define the magic `%documented TASK`. `%load_ext documented_checks` calls this."""

    def documented(line: str) -> None:
        """Run the documented checks of one task of this notebook."""
        run(int(line), ipython.user_ns)

    ipython.register_magic_function(documented)


def _copy(value: Any) -> Any:
    """The value with copies of all tensors, without their graphs. A Module becomes the object that it stands for."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone(memory_format=torch.preserve_format)
    if isinstance(value, Module):
        return value._function
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return type(value)(map(_copy, value)) if type(value) in (list, tuple) else value


def _wrap(value: Any) -> Any:
    """An object of the learner's class as a Module, and any other value as a copy."""
    if isinstance(value, torch.nn.Module) or getattr(type(value), "__module__", "") == "__main__":
        return Module(value)
    return _copy(value)
