"""What does one new token cost, if the cache keeps all heads' keys and values, or one latent vector?

Sizes in the proportions of DeepSeek-V2, an eighth as many heads of a quarter the size. For each length of the text:
the multiplications of one step, in millions, counted by torch. "made again" makes all keys and values from the latent
vectors, "absorbed" makes none. Both read the small cache.
"""

import torch
from torch.utils.flop_counter import FlopCounterMode

CLAIM = "The latent cache is 7 times smaller, and absorbed weights save nine tenths of the work that it would cost."

HEADS, SIZE, LATENT, ROPE = 16, 32, 128, 16


def counted(step) -> float:
    """The multiplications of a step, in millions."""
    with FlopCounterMode(display=False) as counter:
        step()
    return round(counter.get_total_flops() / 2e6, 2)


def measure() -> list[dict[str, float]]:
    torch.manual_seed(123)
    k_up, v_up = torch.randn(2, HEADS, SIZE, LATENT)
    query, turned = torch.randn(HEADS, 1, SIZE), torch.randn(HEADS, 1, ROPE)
    rows = []
    for tokens in (128, 512, 2048, 8192):
        keys, values = torch.randn(2, HEADS, tokens, SIZE)
        latent, shared = torch.randn(tokens, LATENT), torch.randn(tokens, ROPE)

        def all_heads(keys=keys, values=values):
            return torch.softmax(query @ keys.mT, dim=-1) @ values

        def made_again(latent=latent, shared=shared):
            scores = query @ (latent @ k_up.mT).mT + turned @ shared.T
            return torch.softmax(scores, dim=-1) @ (latent @ v_up.mT)

        def absorbed(latent=latent, shared=shared):
            scores = query @ k_up @ latent.T + turned @ shared.T
            return torch.softmax(scores, dim=-1) @ latent @ v_up.mT

        torch.testing.assert_close(made_again(), absorbed(), rtol=1e-3, atol=1e-2)
        row = {"all heads": counted(all_heads), "made again": counted(made_again), "absorbed": counted(absorbed)}
        rows.append({"tokens": tokens} | row)
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    smaller = 2 * HEADS * SIZE > 7 * (LATENT + ROPE)  # numbers that are kept of a token
    return smaller and all(row["absorbed"] < row["made again"] / 10 for row in rows[1:])
