"""forward of FusedMultiHeadAttention calls its argument X. The lesson calls it x: callers may use the name."""


class FusedMultiHeadAttention:
    def forward(self, X: torch.Tensor) -> torch.Tensor:
        x = X
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
