"""What runs the documented checks inside a learner's own notebook, where the grader is not installed.

The text of this module is copied into every documented_checks.py, together with the checks themselves;
course.py puts the parts together. There it is an extension of IPython with the magic `%documented TASK`.
"""

import torch

TASKS: dict[int, list] = {}  # the checks of each task, in order
manual_seed = torch.manual_seed  # what the checks call; the grader's own saves time


def task(number, after=()):
    """Note which task of the lesson a check belongs to."""

    def note(check):
        TASKS.setdefault(number, []).append(check)
        return check

    return note


class DocumentedCheckFailed(Exception):
    """Says what differs, without a traceback of ours."""

    def _render_traceback_(self):
        return [f"✘ {self}"]


class Notebook:
    """What a check calls `learner`: every attribute is a function or class of the notebook."""

    def __init__(self, namespace):
        self._namespace = namespace

    def __getattr__(self, name):
        if name not in self._namespace:
            raise Mismatch(f"the notebook defines no {name}: run the cell that does")  # noqa: F821
        return Target(self._namespace[name])


class Target:
    """A function, a class, or a module made of one. Arguments and results are copies."""

    def __init__(self, function):
        self._function = function

    def __call__(self, *args, seed=None, state=None, **kwargs):
        given, _ = self._call(args, kwargs, seed)
        if state is not None:
            given.load(state)
        return given

    def inputs_after(self, *args, seed=None, **kwargs):
        """The arguments [args, kwargs] as they are after the call."""
        return self._call(args, kwargs, seed)[1]

    def _call(self, args, kwargs, seed):
        args, kwargs = _copied(list(args)), _copied(kwargs)
        with torch.random.fork_rng(devices=[]):
            if seed is not None:
                torch.set_rng_state(seed) if isinstance(seed, torch.Tensor) else torch.manual_seed(seed)
            result = self._function(*args, **kwargs)
        return _wrapped(result), [args, kwargs]


class Module(Target):
    """An object of the learner's class."""

    @property
    def class_name(self):
        return type(self._function).__name__

    def __getattr__(self, name):
        return Target(getattr(self._function, name))

    def describe(self, values=True):  # values=False only saves what crosses a border, and here is none
        module = self._function
        if not isinstance(module, torch.nn.Module):
            raise Mismatch(f"{self.class_name} is not a torch.nn.Module. Write class {self.class_name}(nn.Module)")  # noqa: F821
        held = dict(module.named_parameters())
        frozen = [name for name, value in held.items() if not value.requires_grad]
        return {"parameters": _copied(held), "frozen": frozen, "training": module.training}

    def parameters(self, like=None):
        held = self.describe()["parameters"]
        own = {name: lesson for lesson, name in self.renamed(like or held).items()}
        return {own.get(name, name): value for name, value in held.items()}

    def renamed(self, like):
        held = {name: tuple(value.shape) for name, value in self._function.named_parameters()}
        shapes = {name: tuple(getattr(value, "shape", value)) for name, value in like.items()}
        return next(iter(maps(shapes, held)), {}) if held.keys() != shapes.keys() else {}  # noqa: F821

    def load(self, parameters):
        held = dict(self._function.named_parameters())
        own = self.renamed(parameters)
        parameters = {own.get(name, name): value for name, value in parameters.items()}
        if set(held) != set(parameters):
            has = ", ".join(held) or "none"
            raise Mismatch(f"{self.class_name} has other parameters than {', '.join(parameters)}: it has {has}")  # noqa: F821
        with torch.no_grad():
            for name, value in parameters.items():
                expect_shape(held[name], tuple(value.shape), f"the parameter {name}")  # noqa: F821
                held[name].copy_(value)

    def to(self, **kwargs):
        self._function.to(**kwargs)
        return self

    def train(self, mode=True):
        self._function.train(mode)
        return self

    def eval(self):
        return self.train(False)


def run(number, namespace):
    """Run the documented checks of one task. Raises DocumentedCheckFailed at the first that fails."""
    for check in TASKS.get(number, ()):
        title = check.__doc__.splitlines()[0]
        numbers = {name: parse(name, printed) for name, printed in NUMBERS.get(check.__name__, {}).items()}  # noqa: F821
        given = {"learner": Notebook(namespace), "documented": numbers}
        wanted = check.__code__.co_varnames[: check.__code__.co_argcount]
        try:
            check(**{name: given[name] for name in wanted})
        except Mismatch as error:  # noqa: F821
            raise DocumentedCheckFailed("\n".join(filter(None, (title, error.summary, error.details)))) from None
        except NotImplementedError:
            raise DocumentedCheckFailed(f"{title}\nnot written yet") from None
        print(f"✔ {title}")


def load_ipython_extension(ipython):
    """`%load_ext documented_checks` makes `%documented TASK` known."""

    def documented(line):
        """Run the documented checks of one task of this notebook."""
        run(int(line), ipython.user_ns)

    ipython.register_magic_function(documented)


def _copied(value):
    """The value with every tensor copied, without its history; a layer as the object it stands for."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone(memory_format=torch.preserve_format)
    if isinstance(value, Module):
        return value._function
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    return type(value)(map(_copied, value)) if type(value) in (list, tuple) else value


def _wrapped(value):
    if isinstance(value, torch.nn.Module) or getattr(type(value), "__module__", "") == "__main__":
        return Module(value)
    return _copied(value)
