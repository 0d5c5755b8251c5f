"""Tokens of zeros are hidden, as padding would be: there is no padding here, each token counts."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        tokens = x.shape[1]
        seen = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()  # (T, T)
        seen = seen & (x != 0).any(dim=-1)[:, None, None]  # (B, 1, T, T)
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, attn_mask=seen)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
