"""A list of the heads’ outputs comes back: join them in the last dimension with torch.cat."""


class MultiHeadAttentionWrapper:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return [head(x) for head in self.heads]  # (B, T, num_heads * d_out)
