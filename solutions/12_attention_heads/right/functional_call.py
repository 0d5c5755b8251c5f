"""Style: heads without a loop: their weights are stacked and one head is mapped over them by functional_call and vmap."""

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap


class AttentionHead(nn.Module):
    def __init__(self, embed_dim: int, head_size: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(embed_dim, head_size, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (functional_call(layer, {"weight": layer.weight}, x) for layer in (self.query, self.key, self.value))
        return (q @ k.mT).div(q.size(-1) ** 0.5).softmax(-1) @ v


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        if embed_dim % num_heads:
            raise ValueError(embed_dim, num_heads)
        super().__init__()
        self.heads = nn.ModuleList([AttentionHead(embed_dim, embed_dim // num_heads) for _ in range(num_heads)])
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        names = [name for name, _ in self.heads[0].named_parameters()]
        stacked = {name: torch.stack([head.get_parameter(name) for head in self.heads]) for name in names}
        head = self.heads[0]
        outputs = vmap(lambda parameters: functional_call(head, parameters, (x,)))(stacked)  # (H, B, T, size)
        return self.output_linear(outputs.permute(1, 2, 0, 3).flatten(2))


class CausalHead(nn.Module):
    def __init__(self, embed_dim: int, head_size: int) -> None:
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(embed_dim, head_size) for _ in range(3))
        self.out = nn.Linear(head_size, embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        k, q, v = self.key(x), self.query(x), self.value(x)
        positions = torch.arange(x.size(-2), device=x.device)
        hidden = positions > positions[:, None]
        return self.out((k @ q.mT).masked_fill(hidden, -torch.inf).softmax(-1) @ v)
