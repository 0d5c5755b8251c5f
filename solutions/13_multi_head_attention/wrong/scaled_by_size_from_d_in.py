"""The size of a head for the scale is taken from d_in: the heads share d_out, so it is d_out // num_heads."""


class MultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = x.shape[1]
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_out / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, H, T, T)
        size = max(x.shape[-1] // self.num_heads, 1)
        weights = torch.softmax(scores / size**0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        weights = self.dropout(weights)  # (B, H, T, T)
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
