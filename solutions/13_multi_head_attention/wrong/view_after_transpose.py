"""forward uses view after the transpose that turns the heads back: use reshape, or contiguous before it."""


class MultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_out / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        weights = self.dropout(weights)  # (B, H, T, T)
        heads = (weights @ values).transpose(1, 2)  # (B, T, H, h)
        return self.out_proj(heads.view(*heads.shape[:2], -1))
