"""What `make portfolio` measures of this exercise: tokens a second, without a cache and with yours.

It runs behind your own file in the sandbox, and the clock is outside.
"""

import torch

KIND = "speed"
TITLE = "Writing with a cache of keys and values"
TOKENS, SIZE, HEADS = 256, 768, 12
SAYS = f"One layer as wide as the smallest GPT-2 ({SIZE} numbers, {HEADS} heads) takes {TOKENS} tokens, one by one."
RESULT = "With my cache {second:,.0f} tokens a second, and {first:,.0f} without: {ratio:.1f} times as fast."
UNIT = "tokens a second"
WAYS = {"without a cache": "write_without", "with my cache": "write_with"}


def layer_and_tokens() -> tuple:
    """A layer, and vectors for it, the same each time."""
    torch.manual_seed(123)
    return CachedAttention(SIZE, SIZE, HEADS).eval(), torch.randn(1, TOKENS, SIZE)  # noqa: F821 (the learner's)


def write_without() -> int:
    """At each step the whole text again."""
    layer, x = layer_and_tokens()
    with torch.no_grad():
        for end in range(1, TOKENS + 1):
            layer(x[:, :end])
    return TOKENS


def write_with() -> int:
    """At each step the new token, and what the cache holds of the others."""
    layer, x = layer_and_tokens()
    cache = None
    with torch.no_grad():
        for token in range(TOKENS):
            _, cache = layer(x[:, token : token + 1], cache)
    return TOKENS
