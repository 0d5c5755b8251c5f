"""The root of the size of one head is cut to a whole number, as int() and math.isqrt do: leave the scale to the fused function."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        scale = 1 / int(keys.shape[-1] ** 0.5)
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True, scale=scale)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
