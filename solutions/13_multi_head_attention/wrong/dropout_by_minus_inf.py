"""Dropout sets scores to −inf before the softmax, so the rows still sum to 1: drop attention weights, after the softmax."""


class MultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_out / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, H, T, T)
        kept = self.dropout(torch.ones_like(scores))  # (B, H, T, T)
        scores = scores.masked_fill(kept == 0, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
