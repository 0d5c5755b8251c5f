"""The outputs of the heads are in reverse: the first head’s come first."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([head(x) for head in reversed(self.heads)], dim=-1)  # (B, T, num_heads * d_out)
