"""The output is not projected: the heads' results go through out_proj."""


class CausalSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        mixed = self.attention_weights(x) @ values  # (B, H, T, T) @ (B, H, T, h) -> (B, H, T, h)
        return merge_heads(mixed)  # (B, T, d_model)
