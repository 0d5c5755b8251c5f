"""Why keys have length 1: how large does the state of the delta rule get?

    python exercises/27_linear_attention/measure_keys.py

Random keys of 64 numbers with |k|² = 1 or 20, random values, β = 1, no decay, in float64. What is printed is the root
of the sum of all squares in the state.
"""

import torch

SIZE, COUNTS, SQUARES = 64, (20, 300), (1.0, 20.0)


def state_size(tokens: int, square: float) -> float:
    """The size of the state after so many tokens whose keys have this squared length."""
    torch.manual_seed(123)
    keys, values = torch.randn(2, max(COUNTS), SIZE, dtype=torch.float64)
    keys = keys / keys.norm(dim=-1, keepdim=True) * square**0.5
    state = torch.zeros(SIZE, SIZE, dtype=torch.float64)
    for key, value in zip(keys[:tokens], values[:tokens], strict=True):
        state = state + torch.outer(key, value - key @ state)
    return float(state.norm())


if __name__ == "__main__":
    for tokens in COUNTS:
        print(f"{tokens:4} tokens", *(f"   |k|² = {square:g}: {state_size(tokens, square):.2g}" for square in SQUARES))
