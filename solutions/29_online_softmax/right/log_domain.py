"""Style: sums as logarithms on the way, a dataclass for the state, sigmoid for the share."""

from dataclasses import dataclass

import torch


@dataclass
class State:
    largest: torch.Tensor
    log_sum: torch.Tensor

    def add(self, other: "State") -> "State":
        largest = torch.maximum(self.largest, other.largest)
        total = torch.exp(self.log_sum + self.largest - largest) + torch.exp(other.log_sum + other.largest - largest)
        return State(largest, torch.log(total))


def online_max_and_sum(scores, block_size):
    state = None
    for index in range(-(-scores.size(-1) // block_size)):
        block = scores.narrow(-1, index * block_size, min(block_size, scores.size(-1) - index * block_size))
        largest = block.amax(-1)
        here = State(largest, (block - largest[..., None]).exp().sum(-1).log())
        state = here if state is None else state.add(here)
    return state.largest, state.log_sum.exp()


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    one, two = State(max_a, sum_a.log()), State(max_b, sum_b.log())
    both = one.add(two)
    share = torch.sigmoid((max_a - max_b) + (one.log_sum - two.log_sum)).unsqueeze(-1)
    return both.largest, both.log_sum.exp(), out_a * share + out_b * (1 - share)
