"""The promises of every exercise, each as one helper for the authors of checks.

`mine` is a target of the learner's, `theirs` the same of the reference; both take `args`. Each helper raises Mismatch,
whose text says what the promise was. authors.py offers them.
"""

import re
from collections.abc import Callable
from typing import Any

import torch

from grader.catalog import Forbidden
from grader.judge.compare import Mismatch, close, expect, expect_shape, same
from grader.judge.general_sentences import IN_PLACE
from grader.judge.proxy import MAX_NAMES, Learner, Module, Target
from grader.judge.renaming import ends, names_sentence
from grader.judge.words import kind, shorten, values
from grader.records.forbidden import forbidden_uses
from grader.records.syntax import place
from grader.sandbox.call_results import LearnerError
from grader.sandbox.remote import Remote
from grader.worker.fake_device import MIXED, each, tensors_in

STAND_IN = ". A stand-in device is tried here, since not every machine has a GPU"
WRITTEN = "The code changes an argument that was passed in: make a new object instead."
TRAINED = (1e-4, 1e-4)  # room for losses, since steps make differences larger: right code takes less than a tenth
GRADIENTS = {torch.float64: 1e-6, torch.float32: 2e-5}  # room for gradients; for half types it is 5e-2
REFUSAL = re.compile(r"(raise|assert)\b")  # a line of the learner's that refuses something
UNCHECKED = "Your code doesn't refuse this call. It goes on, and then fails by itself: check first, and raise a {}."
READY_MADE = "worker.without_ready_made.ReadyMade"  # the exception of a worker without such functions


def demand_object(value: object, form: type[Target]) -> None:
    """Raise Mismatch where the learner's class gave something else than an object. A check may wrap the object."""
    wrapped = vars(value).values() if hasattr(value, "__dict__") else ()
    if not any(isinstance(candidate, form) for candidate in (value, *wrapped)):
        raise Mismatch(f"the object is {kind(value)}: a class is asked for, and calling it makes an object", "", value)


def where(target: Target, line: int) -> str:
    """The place of a line of the learner's source, as messages name it."""
    return place(target._learner.source, line)


def held_tensor(learner: Learner, tensor: torch.Tensor) -> Module:
    """A tensor that stays in the worker: several calls are given the same one.

    Its `read()` gives it as it is now, its methods can be called (`x.zero_()`), and where it requires a gradient,
    `x.grad.read()` is that of a `backward()` there.
    """
    return learner._hold(tensor)


def agrees(mine: Target, theirs: Target, *args: Any, tolerance: float | None = None, **kwargs: Any) -> Any:
    """The learner's result is the reference's. Returns it."""
    demand_object(mine, Target)
    got, expected = mine(*args, **kwargs), theirs(*args, **kwargs)
    try:
        expect(got, expected, tolerance=tolerance)
    except Mismatch:
        calls = len(mine._learner.calls)
        for _ in mine.other_maps() if isinstance(mine, Module) else ():
            if same(got := mine(*args, **kwargs), expected, tolerance):
                return got
        del mine._learner.calls[calls:]  # the message and the diagnosis are about the first call
        raise
    return got


def refuses(exception: type[BaseException], target: Target, *args: Any, **kwargs: Any) -> str:
    """The call raises this exception (or a subclass). Returns the exception's text."""
    demand_object(target, Target)
    try:
        result = target(*args, **kwargs)
    except LearnerError as error:
        if error.kind == "exception" and error.is_a(exception.__name__):
            return str(error.facts.get("message", ""))
        if error.kind == "exception" and not error.is_not_started:
            raised = error.facts.get("type")
            addition = ", a class of the file's own," if raised == exception.__name__ else ""
            line = error.frame[2].strip()
            cause = UNCHECKED.format(exception.__name__) if line and not REFUSAL.match(line) else ""
            raise Mismatch(f"{raised}{addition} was raised; expected {exception.__name__}", cause=cause) from None
        raise
    del result
    raise Mismatch(f"no error was raised; expected {exception.__name__}")


def keeps_dtype(
    mine: Target, theirs: Target, *args: Any, dtypes: Any = (torch.float64, torch.bfloat16), **kwargs: Any
) -> None:
    """float64 stays float64, a half type stays that type: inputs (and a module) of each dtype.

    A module is left in the last dtype; converting it back does not bring its digits back.
    """
    demand_object(mine, Target)
    for dtype in dtypes:
        for target in (mine, theirs):
            if isinstance(target, Module):
                target.to(dtype=dtype)
        cast, cast_kwargs = _cast((args, kwargs), dtype)
        expect(mine(*cast, **cast_kwargs), theirs(*cast, **cast_kwargs))


def keeps_inputs(mine: Target, *args: Any, **kwargs: Any) -> None:
    """The call leaves its arguments as they were, and gives the same answer when it is made again.

    Both calls are made in the same way with the same seed, which is drawn for this check, so nothing tells the code
    which of the two it answers. A torch.Generator begins both in the same state, and is free to be used.
    """
    demand_object(mine, Target)
    first_call = mine.with_inputs(*args, **kwargs)
    second_call = mine.with_inputs(*args, seed=mine._learner.calls[-1].seed, **kwargs)
    for _, (listed, keyword_values) in (first_call, second_call):
        for index, (value_after, value_before) in enumerate(zip(listed, args, strict=True)):
            _unchanged(value_after, value_before, f"argument {index}")
        for name, value_before in kwargs.items():
            _unchanged(keyword_values[name], value_before, f"argument {name}")
    expect(second_call[0], first_call[0], "the answer to a second, equal call")


def draws_as_often(mine: Target, theirs: Target, *args: Any, **kwargs: Any) -> None:
    """Each torch.Generator among the arguments is left in the state in which the reference leaves it.

    The result does not show whether more random numbers are drawn than it needs; the next user of the generator does.
    """
    demand_object(mine, Target)
    listed, named = mine.inputs_after(*args, **kwargs)
    listed_by_reference, named_by_reference = theirs.inputs_after(*args, **kwargs)
    states = [*zip(args, listed, listed_by_reference, strict=True)]
    states += [(value, named[name], named_by_reference[name]) for name, value in kwargs.items()]
    for value, got, expected in states:
        if isinstance(value, torch.Generator) and not same(got, expected):
            summary = f"{mine.name} leaves the generator in another state than it should"
            raise Mismatch(f"{summary}: it draws too many random numbers, or too few", "", got, expected)


def keeps_device(mine: Target, *args: Any, **kwargs: Any) -> None:
    """On another device the result is the same and is on that device. A fake device replaces a GPU.

    Both results are computed on the CPU, since a GPU draws other random numbers. Code that cannot run on the fake
    device fails, since it could not run on a GPU either; so does code that gives another result there. A module, also
    one among the arguments, is moved there and cannot be used afterwards.
    """
    demand_object(mine, Target)
    modules = [module for module in (mine, *args, *kwargs.values()) if isinstance(module, Module)]
    for module in modules if mine._learner._device != "cpu" else ():
        module.to(device="cpu")
    expected = mine.on("cpu", *args, **kwargs)
    seed = mine._learner.calls[-1].seed
    for module in modules:
        module.to(device="meta")
    try:
        result = mine.on("meta", *args, seed=seed, **kwargs)
    except LearnerError as error:
        if error.kind != "exception" or error.is_not_started:
            raise
        line, text = error.frame[0], str(error.facts.get("message", ""))
        if MIXED in text:
            remedy = f"make new tensors on the inputs' device{STAND_IN}"
            raise Mismatch(f"{where(mine, line)} mixes tensors of two devices: {remedy}") from None
        summary = f"{where(mine, line)} does not run where the inputs are on another device{STAND_IN}"
        raise Mismatch(f"{summary} ({error.facts.get('type')})", text.partition("\n")[0][:300]) from None
    tensors = tensors_in(result)
    if not tensors or any(tensor.device.type == "meta" for tensor in tensors):  # torch's own meta device has no values
        raise Mismatch(f"the result is not on the device of the inputs{STAND_IN}")
    expect(result, expected, "the result for inputs on another device")


def keeps_no_graph(mine: Target, *args: Any, **kwargs: Any) -> Any:
    """No module in the call gives a result with a graph for gradients, and grad mode is as before, on or off.

    Returns the result.
    """
    result, graph, stays_on, stays_off = mine.with_graph(*args, **kwargs)
    if graph:
        raise Mismatch(f"{mine.name} calls the model with a graph for gradients, which nobody needs: see torch.no_grad")
    if not stays_on:
        raise Mismatch(f"after {mine.name} grad mode is off: whoever trains afterwards gets no gradients")
    if not stays_off:
        raise Mismatch(f"called under torch.no_grad, {mine.name} turns grad mode on and leaves it so")
    return result


def has_own_memory(mine: Target, *args: Any, **kwargs: Any) -> Any:
    """Each tensor of the result has a storage of its own, no larger than its numbers. Returns the result."""
    demand_object(mine, Target)
    result, shared = mine.with_memory(*args, **kwargs)
    if shared:
        raise Mismatch(shared)
    return result


def same_gradients(
    mine: Target,
    theirs: Target | Callable[..., torch.Tensor],
    *args: Any,
    tolerance: float | None = None,
    **kwargs: Any,
) -> None:
    """The gradients of every floating-point argument and parameter are correct.

    theirs: the reference's target, or a function of ours on tensors, whose gradients are taken in float64.
    """
    demand_object(mine, Target)
    if hasattr(theirs, "gradients"):  # a target, or a check's wrapper of one
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
        allowed = tolerance if tolerance is not None else GRADIENTS.get(gradient.dtype, 5e-2) * scale
        expect(got[name], gradient, f"the gradient of {name}", allowed)


def learns_alike(mine: Module, expected: torch.Tensor, *args: Any, loss: Target, rate: float) -> None:
    """Gradient descent changes the module as it changes the reference's. It stays trained.

    expected: what the reference's `descend` gave for these arguments: its losses, one for each step. Let the check wait
    for those of values and gradients: then the cause of a wrong loss is what one call leaves behind for the next.
    """
    demand_object(mine, Module)
    got = mine.descend(*args, loss=loss, steps=len(expected), rate=rate)
    is_right = close(got.double(), expected.double(), *TRAINED)
    if bool(is_right.all()):
        return
    step = int((~is_right).byte().argmax())
    before, after = (f"after {count} step{'s' * (count != 1)} of training" for count in (step - 1, step))
    if step and bool(close(got, got[0], *TRAINED).all()):
        summary = "your loss does not fall at all in training: it stays what it was before the first step"
    elif step:
        still = f"still right {before}, and " if step > 1 else ""
        summary = f"your loss is {still}wrong {after}. Does the code keep something of an earlier call?"
    else:
        summary = "your loss is wrong before the first step of training"
    off = f"{after if step else 'before'}: got {float(got[step]):.6g}, expected {float(expected[step]):.6g}"
    raise Mismatch(summary, f"expected {values(expected)}\ngot      {values(got)}\n{off}", got, expected)


def keeps_parameters(module: Module, change: Callable[[], object], what: str) -> None:
    """The parameters that the module has now are still its parameters after the change, which an optimizer relies on.

    what: the change in words, as "load_unfused".
    """
    demand_object(module, Module)
    held = {}
    for name in module.describe(values=False)["parameters"]:
        part: Target = module
        for attribute in name.split("."):
            part = getattr(part, attribute).read(kept=True)
        held[name] = part
    change()
    for name, value in module.parameters().items():
        if name in held and not same(held[name].read(), value):
            remedy = "Copy the numbers into the one that is there, which an optimizer may know already"
            raise Mismatch(f"{name} is another object after {what}. {remedy}", "", held[name].read(), value)


def has_parameters(module: Module, expected: dict[str, tuple[int, ...]], named: bool = True) -> None:
    """The module's parameters have these names and shapes, all are trainable, and there are no others.

    named: whether other names are refused where nothing else differs.
    """
    demand_object(module, Module)
    facts = module.describe()
    shapes = {name: tuple(value.shape) for name, value in facts["parameters"].items()}
    missing = [name for name in expected if name not in shapes]
    surplus = [name for name in shapes if name not in expected]
    if missing and surplus and (names := module.renamed(expected)):
        if named:
            raise Mismatch(names_sentence(names))
        return has_parameters(module, expected)  # the proxy uses the lesson's names from now on
    if missing or surplus:
        counts = [f"{', '.join(missing)} missing"] if missing else []
        counts += [f"{len(surplus)} too many"] if surplus else []
        summary = f"{module.class_name} has other parameters than asked for: {'; '.join(counts)}"
        raise Mismatch(summary, shorten(f"too many: {', '.join(surplus)}", MAX_NAMES) if surplus else "", ends(surplus))
    for name, shape in expected.items():
        expect(shapes[name], tuple(shape), f"the parameter {name}")
    for name in expected:
        if name in facts["frozen"]:
            raise Mismatch(f"the parameter {name} is not trainable (requires_grad=False)")


def expect_drawn(module: Module, expected: dict[str, torch.Tensor]) -> None:
    """The parameters hold the numbers that the seed gives in the order of `expected`.

    The message says which parameter holds the numbers of another one: the usual sign of another order of creation.
    """
    demand_object(module, Module)
    parameters = module.parameters(expected)
    for name, expected_value in expected.items():
        if name not in parameters:
            details = shorten(f"it has:  {', '.join(parameters) or 'none'}", MAX_NAMES)
            raise Mismatch(f"{module.class_name} has no parameter called {name}", details)
        expect_shape(parameters[name], tuple(expected_value.shape), f"the parameter {name}")
    for name, expected_value in expected.items():
        got = parameters[name]
        equal_name = next(
            (n for n in expected if n != name and expected_value.numel() > 1 and torch.equal(parameters[n], got)), None
        )
        if equal_name:
            raise Mismatch(f"{name} and {equal_name} hold the same numbers: draw each parameter on its own")
        if same(got, expected_value):
            continue
        for other_name, numbers in expected.items():
            if other_name != name and same(got, numbers):
                order = ", ".join(expected)
                reason = f"the parameters are created in another order than {order}"
                raise Mismatch(f"{name} holds the numbers that the seed gives to {other_name}: {reason}")
        expect(got, expected_value, f"the parameter {name}, right after the seed,")


def computes_itself(target: Target, theirs: Learner, rule: Forbidden, *args: Any, **kwargs: Any) -> None:
    """The call gives the reference's result in a worker that has none of the functions that the rule forbids.

    Known mistakes, which are ours and run in this process, are judged by the names in their source.
    """
    connection = target._learner._connection
    uses = forbidden_uses(connection.source, rule.names, [*connection.words.uses(target.name)])
    if isinstance(connection, Remote):
        mine = Learner(connection.without_ready_made(rule), seed=target._learner._seed)
        try:
            agrees(getattr(mine, target.name), getattr(theirs, target.name), *args, **kwargs)
            return
        except Mismatch:
            summary = f"{target.name} is not right where torch has no ready-made functions: {rule.reason}"
        except LearnerError as error:
            if error.kind == "timeout":
                raise
            line = error.frame[0] if READY_MADE in error.facts.get("bases", ()) else 0
            location = where(target, line) if line else target.name
            summary = f"{location} fails where torch has no ready-made functions: {rule.reason}"
            uses = [use for use in uses if use[0] == line] or uses
        if not uses:
            raise Mismatch(summary)
    for line, name in uses[:1]:
        raise Mismatch(f"{where(target, line)} uses {name}: {rule.reason}")


def _unchanged(after: Any, before: Any, name: str) -> None:
    if isinstance(before, (Module, torch.Generator)):
        return
    try:
        expect(after, before, f"{name} after the call")
    except Mismatch as error:
        error.cause = IN_PLACE if isinstance(before, torch.Tensor) else WRITTEN
        raise


def _cast(value: Any, dtype: torch.dtype) -> Any:
    return each(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor, value)


def _true_gradients(
    function: Callable[..., torch.Tensor], seed: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, torch.Tensor]:
    """The gradients of a function of ours by argument, computed in float64, in the dtype of each argument."""
    tensors = {f"argument {index}": value for index, value in enumerate(args) if isinstance(value, torch.Tensor)}
    leaves = {name: value.double().requires_grad_() for name, value in tensors.items()}
    inputs = [leaves.get(f"argument {index}", value) for index, value in enumerate(args)]
    result = function(*inputs, **kwargs)
    cotangent = torch.randn(result.shape, generator=torch.Generator().manual_seed(seed))
    gradients = torch.autograd.grad((result * cotangent).sum(), list(leaves.values()))
    return {name: gradient.to(tensors[name].dtype) for name, gradient in zip(leaves, gradients, strict=True)}
