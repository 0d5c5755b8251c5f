"""Attention over keys that live on several devices, put together by your merge_blocks: the table of "Go further".

    make experiment EX=29 ARGS="ring your_file.py"

The devices are entries of a list here, and each touches its own entry alone. A device keeps its queries. In each round
it attends to the keys and values that it holds, merges that with what it has, and hands keys and values on to the next
device. With causal attention some devices have nothing to do in a round. The last two columns say for what share of the
time they work: with the text dealt out in order, and with one early and one late piece for each device.
"""

import math
import runpy
import sys

import torch

TOKENS, SIZE, SEED = 512, 16, 123


def attended(mine: dict, query, keys, values, future) -> tuple[torch.Tensor, ...]:
    """Maximum, sum and output of queries (n, SIZE) over the keys at hand. future: the scores to hide, or None."""
    scores = query @ keys.T / SIZE**0.5
    if future is not None:
        scores = scores.masked_fill(future, -torch.inf)
    maximum, total = mine["online_max_and_sum"](scores, len(keys))
    return maximum, total, torch.exp(scores - maximum[:, None]) @ values / total[:, None]


def ring(mine: dict, inputs: torch.Tensor, places: list[list[int]], causal: bool) -> tuple[torch.Tensor, float, int]:
    """The output of attention, the share of the time in which devices work, and the largest table of scores.

    inputs: queries, keys and values, (3, TOKENS, SIZE). places: for each device the pieces of the text that it has.
    """
    count = sum(map(len, places))
    pieces = inputs.unflatten(1, (count, -1))  # (3, pieces, n, SIZE)
    n = pieces.shape[2]
    own_future = torch.ones(n, n, dtype=torch.bool).triu(1)
    found: dict[int, tuple[torch.Tensor, ...]] = {}
    time, work, largest = 0, 0, 0
    for turn in range(len(places)):
        loads = []
        for device, own in enumerate(places):
            visiting = places[(device - turn) % len(places)]  # the keys that have come round to this device
            tiles = [(q, k) for q in own for k in sorted(visiting) if k <= q or not causal]
            for q, k in tiles:
                future = own_future if causal and q == k else None
                part = attended(mine, pieces[0, q], pieces[1, k], pieces[2, k], future)
                found[q] = mine["merge_blocks"](*found[q], *part) if q in found else part
                largest = max(largest, n * n)
            loads.append(sum(n * (n + 1) // 2 if causal and q == k else n * n for q, k in tiles))
        time, work = time + max(loads), work + sum(loads)  # nobody hands on before the slowest is done
    return torch.cat([found[q][2] for q in range(count)]), work / (time * len(places)), largest


def main(file: str) -> None:
    mine = runpy.run_path(file)
    inputs = torch.randn(3, TOKENS, SIZE, generator=torch.Generator().manual_seed(SEED))
    exact = [
        torch.nn.functional.scaled_dot_product_attention(*inputs.double(), is_causal=causal) for causal in (False, True)
    ]
    print("          scores in   numbers    error       at work, causal:")
    print("devices   one table   handed on  below       in order   early + late")
    for devices in (1, 2, 4, 8):
        in_order = [[device] for device in range(devices)]
        mixed = [[device, 2 * devices - 1 - device] for device in range(devices)]
        output, _, scores = ring(mine, inputs, in_order, causal=False)
        (first, slow, _), (second, fast, _) = (ring(mine, inputs, places, True) for places in (in_order, mixed))
        error = max(
            float((output - exact[0]).abs().max()), *(float((x - exact[1]).abs().max()) for x in (first, second))
        )
        bound = 10.0 ** math.ceil(math.log10(error))
        sent = (devices - 1) * 2 * TOKENS * SIZE // devices
        print(f"{devices:7} {scores:11,} {sent:11,}  {bound:.0e} {slow:12.0%} {fast:13.0%}")


if __name__ == "__main__":
    main(sys.argv[1])
