"""How often is each number used that one layer reads, for one new token and for many?

    python exercises/20_kv_cache/measure_reading.py

The layer of measure_steps.py, at token 1,024 of a text: the last 1, 4, …, 1,024 tokens are new, the others are in the
cache. The numbers that must be read are those of the four matrices and of all keys and values. Multiply-adds are
counted by torch from the shapes; times are those of one core, in float32, the best of several tries.
"""

import torch
from measure_steps import SIZE, attend, milliseconds
from torch.utils.flop_counter import FlopCounterMode

TOKENS, NEW = 1024, (1, 4, 16, 64, 256, 1024)


def multiply_adds(new: int) -> int:
    """The products of one call for `new` tokens after TOKENS − new others."""
    x, weights = torch.empty(1, new, SIZE, device="meta"), torch.empty(4, SIZE, SIZE, device="meta")
    past = attend(torch.empty(1, TOKENS - new, SIZE, device="meta"), weights)[1] if new < TOKENS else None
    with FlopCounterMode(display=False) as counter:
        attend(x, weights, past)
    return counter.get_total_flops() // 2  # torch counts the addition beside each multiplication


def numbers_read() -> int:
    """The numbers of four matrices, and of the keys and values of all tokens."""
    return 4 * SIZE * SIZE + 2 * TOKENS * SIZE


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(123)
    weights = torch.randn(4, SIZE, SIZE) / SIZE**0.5
    print(f"{numbers_read() / 1e6:.3f} million numbers are read each time.")
    print("   new   multiply-adds    uses        time   per token")
    with torch.no_grad():
        x = torch.randn(1, TOKENS, SIZE)
        for new in NEW:
            past = attend(x[:, :-new], weights)[1] if new < TOKENS else None
            work, time = multiply_adds(new), milliseconds(x[:, -new:], weights, past)
            counts = f"{new:>6,} {work / 1e6:>7,.1f} million {work / numbers_read():>7,.0f}"
            print(f"{counts} {time:>8,.1f} ms {time / new:>8.3f} ms")
