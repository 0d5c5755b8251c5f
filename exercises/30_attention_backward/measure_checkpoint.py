"""What does gradient checkpointing save, and what does it cost?

    make experiment EX=30 ARGS=checkpoint

Causal attention of one head of 64 numbers. `kept` is what autograd holds between forward and backward, in MiB, and
`work` is the number of multiplications in all products of matrices, forward and backward together, in millions.
"""

import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

SIZE, COUNTS = 64, (1024, 4096)


def attention(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    scores = queries @ keys.T / SIZE**0.5
    future = torch.ones(scores.shape, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1) @ values


def checkpointed(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return checkpoint(attention, queries, keys, values, use_reentrant=False)


def kept_and_work(function, tokens: int) -> tuple[float, float]:
    """Returns MiB and millions of multiplications."""
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()  # a tensor that is kept twice counts once
        return tensor

    inputs = [torch.randn(tokens, SIZE, requires_grad=True) for _ in range(3)]
    with FlopCounterMode(display=False) as counter:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            result = function(*inputs)
        result.sum().backward()
    return sum(kept.values()) / 2**20, counter.get_total_flops() / 2 / 1e6


if __name__ == "__main__":
    torch.manual_seed(123)
    print(" tokens                 kept    work")
    for tokens in COUNTS:
        for name, function in {"by autograd": attention, "checkpointed": checkpointed}.items():
            kept, work = kept_and_work(function, tokens)
            print(f"{tokens:7,}  {name:14}{kept:7.2f}{work:8.0f}")
