"""Tokens of zeros are hidden, as padding would be: there is no padding here, each token counts."""


class MultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_out / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, H, T, T)
        scores = scores.masked_fill((x == 0).all(dim=-1)[:, None, None], -torch.inf)  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        weights = self.dropout(weights)  # (B, H, T, T)
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
