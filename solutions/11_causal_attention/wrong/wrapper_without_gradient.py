"""The outputs of the heads are joined as data: torch.tensor cuts the gradients off. Join them with torch.cat."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs = [head(x).tolist() for head in self.heads]
        rows = [[sum(parts, []) for parts in zip(*sequence)] for sequence in zip(*outputs)]
        return torch.tensor(rows, dtype=x.dtype, device=x.device)  # (B, T, num_heads * d_out)
