"""Hidden checks: fresh inputs against autograd in float64, what hidden places hold, and how the gradients are made."""

import contextlib

import torch

from grader.authors import (
    Mismatch,
    expect,
    held_tensor,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    keeps_no_graph,
    same_gradients,
    task,
)

EACH = {
    "softmax_backward": "fresh_softmax",
    "attention_forward": "fresh_forward",
    "attention_backward": "fresh_backward",
    "row_products": "fresh_row_products",
    "cross_entropy_backward": "fresh_cross_entropy",
}
GRADIENTS = ("the gradient of queries", "the gradient of keys", "the gradient of values")
# (B, H, T, h). The telling one first: no size is that of another dimension, and √h is no whole number.
SIZES = ((2, 3, 5, 7), (1, 2, 6, 3), (3, 1, 4, 4), (1, 1, 1, 5), (2, 2, 3, 1))
ROWS = ((5,), (4, 7), (6, 6), (2, 3, 1), (2, 3, 4, 4), (1, 2, 5, 3))  # shapes for softmax_backward
PREDICTIONS = ((4, 7), (9, 3), (5, 5), (1, 6))  # (N, V)
WIDE = 130  # columns: with so many, −100 is a valid place counted from the end
IGNORED = -100
LOG_ROOM = 2e-3  # weights may come from logarithms: at 1e4 a float32 has three digits after its point
HUGE = 3e38  # the largest float32 is 3.4e38


def exact(scores: torch.Tensor, grad_weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights, and the gradient of the scores by autograd, in float64; both in the dtype of the scores."""
    leaf = scores.double().requires_grad_()
    weights = torch.softmax(leaf, dim=-1)
    (gradient,) = torch.autograd.grad(weights, leaf, grad_weights.double())
    return weights.detach().to(scores.dtype), gradient.to(scores.dtype)


def whole(queries, keys, values, causal: bool = False) -> torch.Tensor:
    """Attention over all tokens, in the dtype of the inputs."""
    return torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=causal)


def true_weights(queries, keys, causal: bool = False) -> torch.Tensor:
    """The weights in float64, in the dtype of the inputs."""
    scores = queries.double() @ keys.double().mT / queries.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    return torch.softmax(scores, dim=-1).to(queries.dtype)


def three(rng, *shape: int) -> list[torch.Tensor]:
    """Queries and keys whose scores differ clearly, and values."""
    return [1.5 * rng.randn(*shape), rng.randn(*shape), rng.randn(*shape)]


def backward_of(inputs, grad_context, causal: bool = False):
    """What attention_backward is given, and the gradients that it must give: by autograd, in float64."""
    leaves = [tensor.double().requires_grad_() for tensor in inputs]
    gradients = torch.autograd.grad(whole(*leaves, causal), leaves, grad_context.double())
    given = [*inputs, true_weights(*inputs[:2], causal), grad_context]
    return given, tuple(gradient.to(grad_context.dtype) for gradient in gradients)


def expect_gradients(got, expected) -> None:
    """All three gradients are right, up to rounding of the largest number."""
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        expect(got, expected)  # says what it is instead
    for name, mine, theirs in zip(GRADIENTS, got, expected, strict=True):
        expect(mine, theirs, name, 2e-5 * max(1.0, float(theirs.abs().max())))


def true_loss_gradient(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The gradient of the mean over those targets that count, by autograd in float64; zeros where none counts."""
    counted = targets != IGNORED
    gradient = torch.zeros(logits.shape, dtype=torch.float64)
    if counted.any():
        leaf = logits[counted].double().requires_grad_()
        loss = torch.nn.functional.cross_entropy(leaf, targets[counted])
        gradient[counted] = torch.autograd.grad(loss, leaf)[0]
    return gradient.to(logits.dtype)


def each(rng, special: bool = True) -> dict[str, tuple]:
    """Arguments for each of the five functions. special: causal ones, and an ignored target."""
    queries, keys, values = three(rng, 2, 1, 4, 3)
    grad_context = rng.randn(2, 1, 4, 3)
    weights = true_weights(queries, keys, special)
    arguments = (
        (weights[0, 0], rng.randn(4, 4)),
        (queries, keys, values, special),
        (queries, keys, values, weights, grad_context),
        (weights @ values, grad_context),
        (rng.randn(4, 5), torch.tensor([3, IGNORED if special else 1, 0, 4])),
    )
    return dict(zip(EACH, arguments, strict=True))


@contextlib.contextmanager
def unless_refused():
    """Says in words that autograd itself, and no line of the file, raised an exception."""
    try:
        yield
    except Exception as error:
        if getattr(error, "kind", "") != "exception" or error.facts.get("frames"):
            raise
        message = str(error.facts.get("message", ""))[:300]
        summary = "autograd refuses what backward returns: one entry for each argument of forward, a gradient or None"
        if "must implement" in message:
            summary = "AttentionFunction has no backward"
        raise Mismatch(summary, message) from None


# Task 1


@task(1)
def test_fresh_softmax(learner, rng):
    """softmax_backward gives the true gradient for rows of any length and any number of dimensions; rows sum to 0."""
    for shape in ROWS:
        grad_weights = 3 * rng.randn(*shape)
        weights, expected = exact(2 * rng.randn(*shape), grad_weights)
        expect(learner.softmax_backward(weights, grad_weights), expected)
    weights, expected = exact(2 * rng.randn(5, 6), shifted := 1 + 3 * rng.strided(5, 6))
    weights = weights.T.contiguous().T  # not row by row in memory, and neither are the gradients
    got = learner.softmax_backward(weights, shifted)
    expect(got, expected)
    expect(got.sum(dim=-1), torch.zeros(5), "the sums of the rows", 5e-5)
    weights, large = torch.tensor([[1e-7, 0.25, 0.75]]), torch.tensor([[1e7, 1.0, 2.0]])  # tiny is not 0
    mean = (weights.double() * large.double()).sum()
    expect(learner.softmax_backward(weights, large), (weights.double() * (large.double() - mean)).float())


@task(1, after="fresh_softmax")
def test_hidden_places(learner, rng):
    """Where a weight is 0 the gradient is exactly 0, even if NaN or inf arrives there, and the rest is right."""
    for filler in (0.0, 7.0, torch.nan, torch.inf, -torch.inf):
        scores, grad_weights = 2 * rng.randn(2, 4, 6), 3 * rng.randn(2, 4, 6)
        hidden = torch.zeros(2, 4, 6, dtype=torch.bool)
        hidden[:, 1, 2:], hidden[:, 2, 0], hidden[1, 3, :5], hidden[0, 0, 3] = True, True, True, True
        weights, expected = exact(scores.masked_fill(hidden, -torch.inf), grad_weights.masked_fill(hidden, 0.0))
        got = learner.softmax_backward(weights, grad_weights.masked_fill(hidden, filler))
        expect(got, expected)
        count = int((got[hidden] != 0).sum())
        if count:
            raise Mismatch(f"{count} of {int(hidden.sum())} gradients at a weight of 0 are not exactly 0")


# Task 2


@task(2)
def test_fresh_forward(learner, rng):
    """attention_forward gives the context vectors and the weights, for inputs of any shape."""
    for shape in SIZES:
        inputs = three(rng, *shape)
        expected = whole(*(tensor.double() for tensor in inputs)).float()
        expect(learner.attention_forward(*inputs), (expected, true_weights(*inputs[:2])))
    inputs = [rng.strided(2, 2, 5, 3) for _ in range(3)]
    inputs[0][:, :, 3], inputs[1][:, :, 1] = 0.0, 0.0  # tokens like others
    expected = whole(*(tensor.double() for tensor in inputs)).float()
    expect(learner.attention_forward(*inputs, False), (expected, true_weights(*inputs[:2])))


@task(2, after="fresh_forward")
def test_causal_forward(learner, rng):
    """With causal=True no token sees a later one: those weights are exactly 0."""
    for shape in SIZES:
        inputs = three(rng, *shape)
        expected = whole(*(tensor.double() for tensor in inputs), True).float()
        got = learner.attention_forward(*inputs, True)
        expect(got, (expected, true_weights(*inputs[:2], True)))
        if bool(got[1].triu(1).any()):
            raise Mismatch("a weight on a later token is not exactly 0")


@task(2)
def test_large_scores(learner):
    """Scores of ±10,000 give neither NaN nor a look ahead."""
    queries = torch.full((1, 1, 4, 2), 100 * 2**0.5)
    queries[..., 0, :] /= 20  # with scores of ±500
    keys = torch.tensor([[-100.0, 0.0], [-100.0, 0.0], [50.0, 0.0], [100.0, 0.0]])[None, None]
    values = torch.tensor([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0], [8.0, 16.0]])[None, None]
    expected = torch.tensor([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])[None, None]
    got = learner.attention_forward(queries, keys, values / 16, True)
    expect(got, (expected @ values / 16, expected), tolerance=LOG_ROOM)
    keys[..., 2, :] = keys[..., 3, :]
    expected = torch.tensor([0, 0, 0.5, 0.5]).expand(1, 1, 4, 4).contiguous()
    got = learner.attention_forward(queries, keys, values / 16)
    expect(got, (expected @ values / 16, expected), tolerance=LOG_ROOM)


# Task 3


@task(3)
def test_fresh_backward(learner, rng):
    """attention_backward gives the true gradients of queries, keys and values, for inputs of any shape."""
    for shape in SIZES:
        given, expected = backward_of(three(rng, *shape), rng.randn(*shape))
        expect_gradients(learner.attention_backward(*given), expected)
    given, expected = backward_of([rng.strided(2, 2, 5, 3) for _ in range(3)], rng.strided(2, 2, 5, 3))
    given[3] = given[3].mT.contiguous().mT
    expect_gradients(learner.attention_backward(*given), expected)


@task(3, after="fresh_backward")
def test_causal_backward(learner, rng):
    """With causal weights the gradients are those of causal attention: nothing flows to a later token."""
    for shape in SIZES:
        given, expected = backward_of(three(rng, *shape), rng.randn(*shape), True)
        expect_gradients(learner.attention_backward(*given), expected)


@task(3, after=("fresh_backward", "causal_backward"))
def test_finite_backward(learner, rng):
    """The gradients are finite even if the values of a hidden token are so large that its grad_weights overflow."""
    inputs, grad_context = three(rng, 1, 2, 4, 3), 5 * rng.randn(1, 2, 4, 3)
    grad_context[..., 3, :] = 0.0  # the last token, which sees everything, says nothing
    weights = true_weights(*inputs[:2], True)
    weights[..., 3, :] = torch.tensor([0.5, 0.5, 0.0, 0.0])  # and does not see itself
    _, expected = backward_of([tensor[..., :3, :] for tensor in inputs], grad_context[..., :3, :], True)
    values = inputs[2].clone()
    values[..., 3, :] = HUGE * (1 - 2 * torch.eye(3)[0])
    got = learner.attention_backward(*inputs[:2], values, weights, grad_context)
    expect_gradients(got, tuple(torch.nn.functional.pad(part, (0, 0, 0, 1)) for part in expected))


# Task 4


@task(4)
def test_fresh_row_products(learner, rng):
    """row_products gives one number for each query: the row sums of weights · grad_weights."""
    for shape in SIZES:
        queries, keys, values = three(rng, *shape)
        grad_context, weights = rng.randn(*shape), true_weights(queries, keys, True)
        expected = (weights.double() * (grad_context.double() @ values.double().mT)).sum(dim=-1).float()
        expect(learner.row_products(weights @ values, grad_context), expected, tolerance=5e-5)
    context, grad_context = rng.strided(2, 3, 4, 5), rng.strided(2, 3, 4, 5)
    expect(learner.row_products(context, grad_context), (context * grad_context).sum(dim=-1))


# Task 5


@task(5)
def test_fresh_cross_entropy(learner, rng):
    """cross_entropy_backward gives the true gradient of the mean loss, for any number of rows and columns."""
    for rows, columns in PREDICTIONS:
        logits, targets = 2 * rng.randn(rows, columns), rng.integers(0, columns, rows)
        targets[0], targets[-1] = columns - 1, 0
        expect(learner.cross_entropy_backward(logits, targets), true_loss_gradient(logits, targets))
    logits, targets = 2 * rng.strided(6, 4), torch.tensor([3, 1, 1, 1, 0, 3])  # some targets several times
    expect(learner.cross_entropy_backward(logits, targets), true_loss_gradient(logits, targets))


@task(5, after="fresh_cross_entropy")
def test_ignored_targets(learner, rng):
    """A target of −100 counts neither in the sum nor in the mean, and its row is 0, even if its logits are NaN."""
    for columns in (5, WIDE):
        logits, targets = 2 * rng.randn(6, columns), rng.integers(0, columns, 6)
        targets[1], targets[4] = IGNORED, IGNORED
        expect(learner.cross_entropy_backward(logits, targets), true_loss_gradient(logits, targets))
        logits[1], logits[4, 2] = torch.nan, torch.inf
        got = learner.cross_entropy_backward(logits, targets)
        expect(got, true_loss_gradient(logits, targets))
        if bool((got[[1, 4]] != 0).any()):
            raise Mismatch("the row of an ignored target is not exactly 0")
    everyone, logits = torch.full((3,), IGNORED), rng.randn(3, 4)
    logits[1] = torch.nan
    expect(learner.cross_entropy_backward(logits, everyone), torch.zeros(3, 4), "the result where none counts")


@task(5)
def test_large_logits(learner):
    """Logits of ±10,000 give no NaN."""
    logits = torch.tensor([[1e4, -1e4, 1e4, 0.0], [-1e4, -1e4, -1e4, -1e4], [9e3, 1e4, -1e4, 0.0]])
    targets = torch.tensor([0, 3, 2])
    expected = torch.tensor([[-0.5, 0, 0.5, 0], [0.25, 0.25, 0.25, -0.75], [0, 1, -1, 0]]) / 3
    expect(learner.cross_entropy_backward(logits, targets), expected, tolerance=LOG_ROOM)


# Task 6


@task(6)
def test_fresh_function(learner, rng):
    """AttentionFunction.apply gives the context vectors, causal or not, for inputs of any shape."""
    apply = learner.AttentionFunction.static("apply")
    for shape in SIZES:
        for causal in (False, True):
            inputs = three(rng, *shape)
            expected = whole(*(tensor.double() for tensor in inputs), causal).float()
            expect(apply(*inputs, causal), expected)
    inputs = [rng.strided(2, 2, 5, 3) for _ in range(3)]
    expect(apply(*inputs, False), whole(*(tensor.double() for tensor in inputs)).float())


@task(6, after="fresh_function")
def test_gradients(learner, rng):
    """Autograd gets the true gradients from AttentionFunction, as gradcheck would find in float64."""
    apply = learner.AttentionFunction.static("apply")
    with unless_refused():
        same_gradients(apply, whole, *three(rng, 1, 2, 5, 3), True)
    for shape in SIZES:
        for causal in (False, True):
            inputs = [tensor.double() for tensor in three(rng, *shape)]
            same_gradients(apply, whole, *inputs, causal)


@task(6, after="gradients")
def test_unneeded_gradients(learner, rng):
    """AttentionFunction is an autograd.Function that returns None for inputs without a gradient, and for causal."""
    apply = learner.AttentionFunction.static("apply")
    inputs, grad_context = three(rng, 1, 2, 4, 3), rng.randn(1, 2, 4, 3)
    for wanted in ((False, True, False), (True, False, False), (False, False, True), (True, True, True)):
        got = apply.backward_entries(*inputs, True, wanted=wanted, grad=grad_context)
        if not got:
            raise Mismatch("AttentionFunction is not a torch.autograd.Function: derive the class from it")
        _, expected = backward_of(inputs, grad_context, True)
        if len(got) < 4:  # further Nones are no harm
            expect(tuple(got), (*expected, None), "what backward returns")
        for name, need, mine, theirs in zip(GRADIENTS, wanted, got, expected, strict=False):
            if need:
                expect(mine, theirs, name, 2e-5 * max(1.0, float(theirs.abs().max())))
            elif mine is not None:
                raise Mismatch(f"{name} is made and returned although nobody needs it; expected None")
        if any(entry is not None for entry in got[3:]):
            raise Mismatch("what backward returns for causal is not None")


@task(6, after="gradients")
def test_two_calls(learner, rng):
    """Each call of AttentionFunction goes back with its own tensors, even if another call came in between."""
    apply = learner.AttentionFunction.static("apply")
    given = [three(rng, 1, 2, 4, 3), three(rng, 1, 2, 4, 3)]
    held = [[held_tensor(learner, tensor.clone().requires_grad_()) for tensor in inputs] for inputs in given]
    sums = [apply(*inputs, causal, kept=True).sum(kept=True) for inputs, causal in zip(held, (True, False))]
    for context in sums:
        context.backward()
    for inputs, mine, causal in zip(given, held, (True, False)):
        _, expected = backward_of(inputs, torch.ones(1, 2, 4, 3), causal)
        expect_gradients(tuple(tensor.grad.read() for tensor in mine), expected)


# All tasks


@task(6, each={**EACH, "AttentionFunction": "gradients"})
def test_no_autograd(learner, no_ready_made, rng):
    """Nothing asks autograd, torch.func or a ready-made backward of torch for a gradient."""
    for name, arguments in each(rng, special=False).items():
        no_ready_made(getattr(learner, name), *arguments)
    no_ready_made(learner.AttentionFunction)


@task(6, each=EACH)
def test_no_graph(learner, rng):
    """The five functions return tensors without a graph, even if their inputs require gradients."""
    for name, arguments in each(rng).items():
        function = getattr(learner, name)
        keeps_no_graph(function, *arguments)
        try:
            function.gradients(*arguments)
        except Exception as error:
            if getattr(error, "kind", "") != "gradient":
                raise
        else:
            raise Mismatch(f"the result of {name} has a graph for gradients where its inputs require gradients")


@task(6, each=EACH)
def test_dtype_and_device(learner, reference, rng):
    """Works in float64 and on other devices: the results keep the dtype and the device of the inputs."""
    for name, arguments in each(rng).items():
        keeps_dtype(getattr(learner, name), getattr(reference, name), *arguments, dtypes=(torch.float64,))
        if name != "cross_entropy_backward":  # which may read its targets
            keeps_device(getattr(learner, name), *arguments)


@task(6, each=EACH)
def test_inputs_unchanged(learner, rng):
    """Calling a function twice gives the same result, and nothing you pass in is modified."""
    for name, arguments in each(rng).items():
        keeps_inputs(getattr(learner, name), *arguments)


@task(6, each=EACH)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson."""
    inputs = dict(zip(("queries", "keys", "values"), three(rng, 1, 2, 3, 4), strict=True))
    weights, grad_context = true_weights(inputs["queries"], inputs["keys"]), rng.randn(1, 2, 3, 4)
    learner.softmax_backward(weights=weights, grad_weights=rng.randn(1, 2, 3, 3))
    learner.attention_forward(**inputs, causal=True)
    learner.attention_backward(**inputs, weights=weights, grad_context=grad_context)
    learner.row_products(context=weights @ inputs["values"], grad_context=grad_context)
    learner.cross_entropy_backward(logits=rng.randn(2, 3), targets=torch.tensor([1, 0]))
