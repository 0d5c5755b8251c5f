"""What `make portfolio` measures of this exercise: the memory of attention, with a table of scores and with your tiles.

It runs behind your own file in the sandbox, and the memory of that process is read from outside.
"""

import torch

KIND = "memory"
TITLE = "Attention whose memory does not grow with the square of the text"
SAYS = "One head of 32 numbers in float32, forward and backward. Each point is the peak of a process of its own."
RESULT = (
    "For {size:,} tokens my flash attention took {second:,.0f} MiB, forward and backward; a table of all scores took "
    "{first:,.0f} MiB."
)
SIZES, SIZE_NAME, BLOCK, WIDTH = (512, 1024, 2048, 4096, 8192), "tokens", 256, 32
WAYS = {"with a table of all scores": "use_table", "with my flash attention": "use_tiles"}


def use_table(tokens: int) -> float:
    """Attention as in exercise 06, and its gradients."""
    query, keys, values = (torch.randn(1, 1, tokens, WIDTH, requires_grad=True) for _ in range(3))
    output = torch.softmax(query @ keys.mT / WIDTH**0.5, dim=-1) @ values
    output.sum().backward()
    return float(output.detach().sum())


def use_tiles(tokens: int) -> float:
    """The same with the function of this exercise."""
    query, keys, values = (torch.randn(1, 1, tokens, WIDTH, requires_grad=True) for _ in range(3))
    output = flash_attention(query, keys, values, block_size=BLOCK)  # noqa: F821 (the learner's file stands above)
    output.sum().backward()
    return float(output.detach().sum())
