"""Hidden checks: fresh inputs against the solution, and the common promises."""

from grader.authors import (
    Mismatch,
    agrees,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same,
    same_gradients,
    task,
)

SQUARE, SHAPES = (4, 4), ((5, 3), (2, 6), (1, 4), (3, 1))
FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "centred_rows": "fresh_centred_rows",
    "all_products": "fresh_all_products",
    "Affine": "fresh_affine",
}
ALL = FUNCTIONS | {"positions": "fresh_positions", "less_fixed_mean": "fresh_less_fixed_mean"}


def pair(learner, reference, rng, d_in, d_out):
    """The learner's layer and the solution's, with the same numbers."""
    state = {"weight": rng.randn(d_in, d_out), "bias": rng.randn(d_out)}
    return learner.Affine(d_in, d_out, state=state), reference.Affine(d_in, d_out, state=state)


@task(1)
def test_fresh_centred_rows(learner, reference, rng):
    """centred_rows is right for new rows, also where there are as many rows as columns."""
    for shape in (SQUARE, *SHAPES):
        agrees(learner.centred_rows, reference.centred_rows, rng.randn(*shape) + 2)
    agrees(learner.centred_rows, reference.centred_rows, rng.strided(4, 3))
    keeps_dtype(learner.centred_rows, reference.centred_rows, rng.randn(4, 3))


@task(2)
def test_fresh_all_products(learner, reference, rng):
    """all_products is right for new rows, as many or as few of each as there are."""
    agrees(learner.all_products, reference.all_products, rng.randn(4, 3), rng.randn(4, 3))  # a square hides a reshape
    agrees(learner.all_products, reference.all_products, rng.randn(5, 3), rng.randn(2, 3))
    agrees(learner.all_products, reference.all_products, rng.randn(4, 4), rng.randn(4, 4))
    agrees(learner.all_products, reference.all_products, rng.randn(1, 6), rng.strided(4, 6))
    keeps_dtype(learner.all_products, reference.all_products, rng.randn(4, 3), rng.randn(2, 3))


@task(3)
def test_fresh_positions(learner, reference, rng):
    """positions counts the rows from 0, in the dtype and on the device of x."""
    for shape in (*SHAPES, SQUARE):
        agrees(learner.positions, reference.positions, rng.randn(*shape))
    keeps_dtype(learner.positions, reference.positions, rng.randn(4, 3))
    keeps_device(learner.positions, rng.randn(4, 3))


@task(4)
def test_fresh_less_fixed_mean(learner, reference, rng):
    """less_fixed_mean gives the right numbers for any shape."""
    for shape in ((5,), (4, 3), (2, 3, 4), (1,)):
        agrees(learner.less_fixed_mean, reference.less_fixed_mean, rng.randn(*shape) + 2)
    keeps_dtype(learner.less_fixed_mean, reference.less_fixed_mean, rng.randn(4, 3))


@task(4, after="fresh_less_fixed_mean")
def test_gradient_of_a_fixed_mean(learner, reference, rng):
    """Gradients flow through x itself, and none through the mean."""
    same_gradients(learner.less_fixed_mean, reference.less_fixed_mean, rng.randn(4, 3))


@task(5)
def test_parameters(learner):
    """The layer has the trainable parameters weight (d_in, d_out) and bias (d_out,), drawn from 0 to 1."""
    has_parameters(learner.Affine(3, 2), {"weight": (3, 2), "bias": (2,)})
    sizes = {"weight": (30, 40), "bias": (40,)}
    first = learner.Affine(30, 40, seed=1).parameters(sizes)
    second = learner.Affine(30, 40, seed=2).parameters(sizes)
    for name, values in first.items():
        if same(values, second[name]):
            raise Mismatch(f"{name} is the same after another seed: nothing in __init__ may set the seed")
        if values.min() < 0 or values.max() > 1:
            raise Mismatch(f"{name} holds numbers below 0 or above 1: torch.rand draws none")


@task(5)
def test_fresh_affine(learner, reference, rng):
    """The layer is right for any weight and bias, on new rows of other sizes."""
    for d_in, d_out in ((3, 2), (3, 3), (1, 4)):
        mine, theirs = pair(learner, reference, rng, d_in, d_out)
        agrees(mine, theirs, rng.randn(4, d_in))
        agrees(mine, theirs, rng.randn(1, d_in))
    mine, theirs = pair(learner, reference, rng, 3, 2)
    keeps_dtype(mine, theirs, rng.randn(4, 3))


@task(5, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs of tasks 1, 2 and 5, and both parameters, and they are correct."""
    same_gradients(learner.centred_rows, reference.centred_rows, rng.randn(4, 3))
    same_gradients(learner.all_products, reference.all_products, rng.randn(4, 3), rng.randn(2, 3))
    same_gradients(*pair(learner, reference, rng, 3, 2), rng.randn(4, 3))


@task(5, each=ALL)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    keeps_inputs(learner.centred_rows, rng.randn(4, 3))
    keeps_inputs(learner.all_products, rng.randn(4, 3), rng.randn(2, 3))
    keeps_inputs(learner.positions, rng.randn(4, 3))
    keeps_inputs(learner.less_fixed_mean, rng.randn(4, 3))
    keeps_inputs(learner.Affine(3, 2, seed=5), rng.randn(4, 3))


@task(5, each=ALL)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: x, a and b of all_products, d_in and d_out of Affine."""
    x = rng.randn(4, 3)
    learner.centred_rows(x=x)
    learner.all_products(a=x, b=rng.randn(2, 3))
    learner.positions(x=x)
    learner.less_fixed_mean(x=x)
    learner.Affine(d_in=3, d_out=2)(x=x)
