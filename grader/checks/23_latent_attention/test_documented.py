"""The numbers that the lesson prints: how much is kept, and the sentence at once, in steps, and without keys."""

import torch

from grader.authors import Mismatch, expect, expect_drawn, expect_shape, manual_seed, task
from grader.sentence import inputs

SIZES = (3, 2, 2, 3, 2)  # d_in, num_heads, head_dim, d_latent, d_rope


def output_and_cache(answer, tokens: int):
    """An answer's output and cache, which have their shapes. Raises Mismatch where they have not."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Mismatch("the result is not a tuple of the output and the cache")
    expect_shape(answer[1], (1, tokens, 5), "the cache")
    return answer


@task(1)
def test_documented_cache_numbers(learner, documented):
    """With the sizes of DeepSeek-V2, a token needs as many numbers as the lesson says: with all heads, and latent."""
    expect(learner.cache_numbers("mha", 128, 8, 128, 512, 64), documented["mha"])
    expect(learner.cache_numbers("mla", 128, 8, 128, 512, 64), documented["mla"])


@task(2)
def test_documented_attention(learner, documented):
    """Seeded with 123, the layer gives the lesson's output for the sentence, and the lesson's cache."""
    layer = learner.LatentAttention(*SIZES, seed=123)
    output, cache = output_and_cache(layer(inputs()[None]), 6)
    manual_seed(123)
    shapes = {"q_proj": (3, 8), "kv_down": (3, 3), "k_rope": (3, 2), "k_up": (3, 4), "v_up": (3, 4), "out_proj": (4, 3)}
    drawn = {f"{name}.weight": torch.nn.Linear(*sizes, bias=False).weight.detach() for name, sizes in shapes.items()}
    expect_drawn(layer, drawn)
    expect_shape(output, (1, 6, 3), "the output")
    expect(cache[0], documented["cache"], "the cache")
    expect(output[0], documented["output"], "the output")


@task(3)
def test_documented_steps(learner, documented):
    """The sixth token, fed by itself with the cache of the first five, has the output that it has among all six."""
    layer = learner.LatentAttention(*SIZES, seed=123)
    _, cache = output_and_cache(layer(inputs()[None, :5]), 5)
    output, _ = output_and_cache(layer(inputs()[None, 5:], cache), 6)
    expect_shape(output, (1, 1, 3), "the output")
    expect(output[0], documented["last"], "the output of the sixth token")


@task(4)
def test_documented_absorbed_step(learner, documented):
    """absorbed_step gives the sixth token the same output, without making a key or a value."""
    layer = learner.LatentAttention(*SIZES, seed=123)
    _, cache = output_and_cache(layer(inputs()[None, :5]), 5)
    output, _ = output_and_cache(layer.absorbed_step(inputs()[None, 5:], cache), 6)
    expect_shape(output, (1, 1, 3), "the output")
    expect(output[0], documented["absorbed"], "the output of the sixth token")
    # The example by hand: x is the latent vector, nothing is rotated, and the values are one-hot.
    state = {
        "q_proj.weight": torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        "kv_down.weight": torch.eye(3),
        "k_rope.weight": torch.zeros(2, 3),
        "k_up.weight": torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
        "v_up.weight": torch.eye(2, 3),
        "out_proj.weight": torch.eye(3, 2),
    }
    layer = learner.LatentAttention(3, 1, 2, 3, 2, state=state)
    answer = layer.absorbed_step(torch.tensor([[[0.0, 1.0, 1.0]]]), torch.tensor([[[1.0, 0.0, 2.0, 0.0, 0.0]]]))
    output, _ = output_and_cache(answer, 2)
    expect(output[0, 0, :2], documented["weights"], "the weights of the example by hand")
