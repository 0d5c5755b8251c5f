"""How often does a program go to memory, with no tiles, with tiles, and with everything in one kernel?

A model of the memory counts the numbers that go in and out, as a GPU's large and slow memory sees them. Attention for
one head of 16 numbers is made in three ways: number by number, by tiled kernels that pass their tables on through
memory, and by one fused kernel. Nothing is timed: what is counted is the traffic.
"""

import torch

CLAIM = "A tile of 16 cuts the traffic of products by more than 8, and the fused kernel moves no table of T × T."
SIZE, BLOCK = 16, 16


class Memory:
    moved = 0  # numbers that were loaded or stored

    def load(self, part: torch.Tensor) -> torch.Tensor:
        self.moved += part.numel()
        return part.clone()

    def store(self, place: torch.Tensor, part: torch.Tensor) -> None:
        self.moved += part.numel()
        place.copy_(part)


def product(memory: Memory, a: torch.Tensor, b: torch.Tensor, block: int) -> torch.Tensor:
    """a @ b, one tile of the result after the other, in steps of block along the inner dimension."""
    (M, K), N = a.shape, b.shape[1]
    c, step = torch.empty(M, N), block if block > 1 else K  # number by number, K of each are read for one result
    for m in range(0, M, block):
        for n in range(0, N, block):
            tile = torch.zeros(min(block, M - m), min(block, N - n))
            for k in range(0, K, step):
                left = memory.load(a[m : m + block, k : k + step])
                tile += left @ memory.load(b[k : k + step, n : n + block])
            memory.store(c[m : m + block, n : n + block], tile)
    return c


def in_three_kernels(memory: Memory, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block: int) -> torch.Tensor:
    """Scores, softmax and the mixture of values: each kernel leaves its table in memory for the next."""
    scores = product(memory, q, k.T, block)
    for row in scores:
        memory.store(row, torch.softmax(memory.load(row) / SIZE**0.5, dim=0))
    return product(memory, scores, v, block)


def fused(memory: Memory, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block: int) -> torch.Tensor:
    """The online softmax of exercise 29, for one tile of queries after the other."""
    output = torch.empty_like(q)
    for i in range(0, len(q), block):
        tile = memory.load(q[i : i + block])
        largest, total, mixed = torch.full((len(tile), 1), -torch.inf), 0.0, torch.zeros_like(tile)
        for j in range(0, len(k), block):
            scores = tile @ memory.load(k[j : j + block]).T / SIZE**0.5
            higher = torch.maximum(largest, scores.amax(dim=1, keepdim=True))
            shrink, weights = torch.exp(largest - higher), torch.exp(scores - higher)
            total = total * shrink + weights.sum(dim=1, keepdim=True)
            largest, mixed = higher, mixed * shrink + weights @ memory.load(v[j : j + block])
        memory.store(output[i : i + block], mixed / total)
    return output


def measure() -> list[dict[str, float]]:
    torch.manual_seed(123)
    rows = []
    ways = {"naive": (in_three_kernels, 1), "tiled": (in_three_kernels, BLOCK), "fused": (fused, BLOCK)}
    for tokens in (16, 32, 64):
        q, k, v = torch.randn(3, tokens, SIZE)
        memories = {name: Memory() for name in ways}
        for name, (way, block) in ways.items():
            got, expected = way(memories[name], q, k, v, block), torch.softmax(q @ k.T / SIZE**0.5, dim=1) @ v
            assert torch.allclose(got, expected, atol=1e-5)
        rows.append({"tokens": tokens, **{name: one.moved for name, one in memories.items()}})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    return all(row["naive"] > 8 * row["tiled"] and row["fused"] < row["tiled"] for row in rows)
