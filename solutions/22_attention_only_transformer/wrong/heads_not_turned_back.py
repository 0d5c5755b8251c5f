"""The heads are joined without turning them back: transpose heads and tokens before you flatten."""


class CausalSelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        mixed = self.attention_weights(x) @ values  # (B, H, T, T) @ (B, H, T, h) -> (B, H, T, h)
        return self.out_proj(mixed.reshape(x.shape))  # (B, T, d_model)
