"""The layer writes into its input: x += … changes what the caller still needs."""


class CausalSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        mixed = self.attention_weights(x) @ values  # (B, H, T, T) @ (B, H, T, h) -> (B, H, T, h)
        x += 0.0 * x + 1e-3
        return self.out_proj(merge_heads(mixed))  # (B, T, d_model)
