"""What every exercise promises, each as one helper for check authors (CURRICULUM, common terms).

`mine` is a target of the learner's, `theirs` the same of the reference; both take `args`.
Each helper raises Mismatch, which says what the promise was.
"""

from collections.abc import Callable
from typing import Any

import torch

from grader.catalog import Forbidden
from grader.judge.compare import Mismatch, expect, expect_shape, same
from grader.judge.dispatched import demand_no_machinery
from grader.judge.proxy import Module, Target, tensors_in
from grader.judge.renaming import told
from grader.judge.words import kind
from grader.records.places import place
from grader.sandbox.call_results import LearnerError
from grader.worker.fake_device import MIXED


def agrees(mine: Target, theirs: Target, *args: Any, tolerance: float | None = None, **kwargs: Any) -> Any:
    """The learner's result is the reference's. Returns it."""
    _demand(mine, Target)
    got, expected = mine(*args, **kwargs), theirs(*args, **kwargs)
    try:
        expect(got, expected, tolerance=tolerance)
    except Mismatch:
        calls = len(mine._learner.calls)
        for _ in mine.other_maps() if isinstance(mine, Module) else ():
            if same(got := mine(*args, **kwargs), expected, tolerance):
                return got
        del mine._learner.calls[calls:]  # what is told, and diagnosed, is the call that failed
        raise
    return got


def same_gradients(
    mine: Target,
    theirs: Target | Callable[..., torch.Tensor],
    *args: Any,
    tolerance: float | None = None,
    **kwargs: Any,
) -> None:
    """The gradients of every floating-point argument and parameter are the true ones.

    theirs: the reference's target, or a function of ours on tensors, whose gradients are taken in float64.
    """
    _demand(mine, Target)
    if hasattr(theirs, "gradients"):  # a target, or what a check wraps around one
        expected = theirs.gradients(*args, **kwargs)
    else:
        expected = _true_gradients(theirs, mine.cotangent_seed, args, kwargs)
    got = mine.gradients(*args, **kwargs)
    if not isinstance(got, dict):
        raise Mismatch("no gradients came back")
    for name, gradient in expected.items():
        if name not in got:
            raise Mismatch(f"no gradient reaches {name}")
        scale = max(1.0, float(gradient.abs().max())) if gradient.numel() else 1.0
        room = tolerance if tolerance is not None else _room(gradient) * scale
        expect(got[name], gradient, f"the gradient of {name}", room)


def keeps_dtype(
    mine: Target, theirs: Target, *args: Any, dtypes: Any = (torch.float64, torch.bfloat16), **kwargs: Any
) -> None:
    """float64 stays float64, a half type stays that type: inputs (and a module) of each dtype.

    A module is left in the last dtype; converting it back does not bring its digits back.
    """
    _demand(mine, Target)
    for dtype in dtypes:
        for target in (mine, theirs):
            if isinstance(target, Module):
                target.to(dtype=dtype)
        cast = [_cast(value, dtype) for value in args]
        named = {name: _cast(value, dtype) for name, value in kwargs.items()}
        expect(mine(*cast, **named), theirs(*cast, **named))


def keeps_inputs(mine: Target, *args: Any, **kwargs: Any) -> None:
    """The call leaves its arguments as they were, and gives the same answer when called again.

    Both calls are looked at in the same way and are given the same seed, drawn for this check: nothing tells
    the code which of its calls it is.
    """
    _demand(mine, Target)
    first = mine.with_inputs(*args, **kwargs)
    second = mine.with_inputs(*args, seed=mine._learner.calls[-1].seed, **kwargs)
    for _, (listed, named) in (first, second):
        for index, (left, given) in enumerate(zip(listed, args, strict=True)):
            expect(left, given, f"argument {index} after the call") if _data(given) else None
        for name, given in kwargs.items():
            expect(named[name], given, f"argument {name} after the call") if _data(given) else None
    expect(second[0], first[0], "the answer to a second, equal call")


def keeps_device(mine: Target, *args: Any, **kwargs: Any) -> None:
    """On another device the result is the same, and lies there. A fake device stands in for a GPU.

    Whatever cannot run there counts: on a GPU it could not either. So does what gives another result there, as code
    does that only evades the question. A module, also one among the arguments, is moved there and is of no further use.
    """
    _demand(mine, Target)
    expected = mine(*args, **kwargs)
    seed = mine._learner.calls[-1].seed
    for module in (mine, *args, *kwargs.values()):
        if isinstance(module, Module):
            module.to(device="meta")
    try:
        result = mine.on_meta(*args, seed=seed, **kwargs)
    except LearnerError as error:
        if error.kind != "exception" or error.is_not_started:
            raise
        line, text = (error.facts.get("frames") or [[0, "", ""]])[-1][0], str(error.facts.get("message", ""))
        if MIXED in text:
            summary = f"{_place(mine, line)} mixes tensors of two devices: make new tensors on the device of the inputs"
        else:
            summary = (
                f"{_place(mine, line)} does not run where the inputs are on another device ({error.facts.get('type')})"
            )
        raise Mismatch(summary, text.partition("\n")[0][:300] if summary.endswith(")") else "") from None
    found = tensors_in(result)
    if not found or any(tensor.device.type == "meta" for tensor in found):  # none there, or none with values
        raise Mismatch("the result is not on the device of the inputs")
    expect(result, expected, "the result for inputs on another device")


def keeps_no_graph(mine: Target, *args: Any, **kwargs: Any) -> Any:
    """No module in the call gives a result with a graph for gradients, and grad mode is on afterwards. The result."""
    result, graph, grad_mode = mine.with_graph(*args, **kwargs)
    if graph:
        raise Mismatch(f"{mine.name} calls the model with a graph for gradients, which nobody needs: see torch.no_grad")
    if not grad_mode:
        raise Mismatch(f"after {mine.name} grad mode is off: whoever trains afterwards gets no gradients")
    return result


def refuses(exception: type[BaseException], target: Target, *args: Any, **kwargs: Any) -> str:
    """The call raises this exception (or a subclass). Returns the exception's text."""
    _demand(target, Target)
    try:
        result = target(*args, **kwargs)
    except LearnerError as error:
        if error.kind == "exception" and error.is_a(exception.__name__):
            return str(error.facts.get("message", ""))
        if error.kind == "exception" and not error.is_not_started:
            raised = error.facts.get("type")
            own = ", a class of the file's own," if raised == exception.__name__ else ""
            raise Mismatch(f"{raised}{own} was raised; expected {exception.__name__}") from None
        raise
    del result
    raise Mismatch(f"no error was raised; expected {exception.__name__}")


def computes_itself(target: Target, rule: Forbidden, *args: Any, **kwargs: Any) -> None:
    """All calls of this function so far used operations of the rule's groups alone, and this one did use some.

    Nor does its file reach for what could blind the watch on them, which lives in the learner's process.
    """
    target(*args, watch=rule, **kwargs)
    demand_no_machinery(target._learner.source)
    hit = target._learner.hits.get(target.name)
    if hit:
        name, line = hit
        where = _place(target, line) if line else target.name
        what = f"torch's ready-made {name.strip('_')}" if name else "a ready-made function"
        raise Mismatch(f"{where} uses {what}: write it yourself")
    if not target._learner.calls[-1].computed:
        raise Mismatch(f"{target.name} gives a result without computing it: {rule.reason}")


def has_parameters(module: Module, expected: dict[str, tuple[int, ...]], named: bool = True) -> None:
    """The module's parameters have these names and shapes, all of them trainable, and no others.

    Not named: other names will do, where nothing else differs.
    """
    _demand(module, Module)
    facts = module.describe()
    shapes = {name: tuple(value.shape) for name, value in facts["parameters"].items()}
    missing = [name for name in expected if name not in shapes]
    surplus = [name for name in shapes if name not in expected]
    if missing and surplus and (names := module.renamed(expected)):
        if named:
            raise Mismatch(told(names))
        return has_parameters(module, expected)  # which are told by the lesson's names from now on
    if missing or surplus:
        words = [f"{', '.join(missing)} missing"] * bool(missing) + [f"{len(surplus)} too many"] * bool(surplus)
        summary = f"{module.class_name} has other parameters than asked for: {'; '.join(words)}"
        raise Mismatch(summary, f"too many: {', '.join(surplus)}"[:300] if surplus else "")
    for name, shape in expected.items():
        expect(shapes[name], tuple(shape), f"the parameter {name}")
    for name in expected:
        if name in facts["frozen"]:
            raise Mismatch(f"the parameter {name} is not trainable (requires_grad=False)")


def expect_drawn(module: Module, expected: dict[str, torch.Tensor]) -> None:
    """The parameters hold the numbers that the seed gives in the order of creation of `expected`.

    Says which parameter holds another's numbers: the usual sign of another order.
    """
    _demand(module, Module)
    drawn = module.parameters(expected)
    for name, want in expected.items():
        if name not in drawn:
            details = f"it has:  {', '.join(drawn) or 'none'}"[:300]
            raise Mismatch(f"{module.class_name} has no parameter called {name}", details)
        expect_shape(drawn[name], tuple(want.shape), f"the parameter {name}")
    for name, want in expected.items():
        got = drawn[name]
        twin = next((n for n in expected if n != name and want.numel() > 1 and torch.equal(drawn[n], got)), None)
        if twin:
            raise Mismatch(f"{name} and {twin} hold the same numbers: draw each parameter anew")
        if same(got, want):
            continue
        for other, numbers in expected.items():
            if other != name and same(got, numbers):
                order = ", ".join(expected)
                raise Mismatch(
                    f"{name} holds the numbers that the seed gives to {other}: "
                    f"the parameters are created in another order than {order}"
                )
        expect(got, want, f"the parameter {name}, right after the seed,")


def _true_gradients(
    function: Callable[..., torch.Tensor], seed: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, torch.Tensor]:
    """What Target.gradients gives of a function of ours, computed in float64 and in the dtype of each argument."""
    given = {f"argument {index}": value for index, value in enumerate(args) if isinstance(value, torch.Tensor)}
    leaves = {name: value.double().requires_grad_() for name, value in given.items()}
    inputs = [leaves.get(f"argument {index}", value) for index, value in enumerate(args)]
    result = function(*inputs, **kwargs)
    cotangent = torch.randn(result.shape, generator=torch.Generator().manual_seed(seed))
    gradients = torch.autograd.grad((result * cotangent).sum(), list(leaves.values()))
    return {name: gradient.to(given[name].dtype) for name, gradient in zip(leaves, gradients, strict=True)}


def _place(target: Target, line: int) -> str:
    return place(target._learner.source, line)


def _demand(value: object, form: type[Target]) -> None:
    """Raise Mismatch where the learner's class gave something else than an object. A check may wrap an object."""
    wrapped = vars(value).values() if hasattr(value, "__dict__") else ()
    if not any(isinstance(part, form) for part in (value, *wrapped)):
        raise Mismatch(f"the object is {kind(value)}: a class is asked for, and calling it makes an object", "", value)


def _room(gradient: torch.Tensor) -> float:
    return {torch.float64: 1e-6, torch.float32: 2e-5}.get(gradient.dtype, 5e-2)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.to(dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, dtype) for item in value)
    return value


def _data(value: Any) -> bool:
    return not isinstance(value, Module)
