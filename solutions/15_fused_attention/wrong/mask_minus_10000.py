"""The future is hidden by −10,000, which is a score like others: hand over a bool mask, −inf, or is_causal=True."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        mask = torch.full((x.shape[1], x.shape[1]), -10_000.0, dtype=x.dtype, device=x.device).triu(1)  # (T, T)
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=dropout)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
