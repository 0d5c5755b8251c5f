"""The weights mix the tokens' vectors themselves: the values come from W_value."""


class CausalSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = split_heads(x, self.num_heads)  # (B, H, T, h)
        mixed = self.attention_weights(x) @ values  # (B, H, T, T) @ (B, H, T, h) -> (B, H, T, h)
        return self.out_proj(merge_heads(mixed))  # (B, T, d_model)
