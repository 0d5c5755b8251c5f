"""The mask holds 0 and 1 as floats, which are added to the scores: a bool mask says who may attend, a float mask holds 0 and −inf."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        past = torch.ones(x.shape[1], x.shape[1], dtype=x.dtype, device=x.device).tril()  # (T, T)
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=past, dropout_p=dropout)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
