"""The layer adds its input itself: it gives its own part alone, and the model adds it."""


class CausalSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        mixed = self.attention_weights(x) @ values  # (B, H, T, T) @ (B, H, T, h) -> (B, H, T, h)
        return x + self.out_proj(merge_heads(mixed))  # (B, T, d_model)
