"""The outputs of the heads are stacked in a new dimension: join them along the last one, which is there."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([head(x) for head in self.heads], dim=-1)
