"""How wrong is attention whose cache holds a byte for each number, and how wrong can it be?

    make experiment EX=24 ARGS=int8

One head of 64 numbers, 1,024 tokens and 256 queries, all random. Each key and each value is divided by a scale of its
own, its largest number over 127, and rounded. `error` is the largest error of any number in the results, and `bound` is
the bound that the lesson derives. In the last two rows 30 is added to the first number of every key.
"""

import torch

TOKENS, QUERIES, SIZE, LARGEST, SHIFT = 1024, 256, 64, 127, 30.0


def in_bytes(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the int8 tensor (T, h) and the scales (T, 1)."""
    scales = x.abs().amax(dim=-1, keepdim=True) / LARGEST
    return (x / scales).round().to(torch.int8), scales


def attention(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return torch.softmax(queries @ keys.T / SIZE**0.5, dim=-1) @ values


def error_and_bound(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> tuple[float, float]:
    """The largest error of the quantized cache, and the bound on it."""
    (small_keys, key_scales), (small_values, value_scales) = in_bytes(keys), in_bytes(values)
    quantized = attention(queries, small_keys * key_scales, small_values * value_scales)
    of_scores = queries.abs().sum(dim=-1).max() * key_scales.max() / 2 / SIZE**0.5
    bound = of_scores * values.abs().max() + value_scales.max() / 2
    return float((quantized - attention(queries, keys, values)).abs().max()), float(bound)


if __name__ == "__main__":
    torch.manual_seed(123)
    queries, keys, values = (torch.randn(n, SIZE, dtype=torch.float64) for n in (QUERIES, TOKENS, TOKENS))
    shifted = keys.clone()
    shifted[:, 0] += SHIFT
    rows = {"random": keys, "shifted": shifted, "shifted, mean subtracted": shifted - shifted.mean(dim=0)}
    print(f"{'keys':26}{'error':>8}{'bound':>8}")
    for name, rowed in rows.items():
        error, bound = error_and_bound(queries, rowed, values)
        print(f"{name:26}{error:8.4f}{bound:8.3f}")
