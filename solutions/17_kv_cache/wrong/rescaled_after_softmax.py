"""The future is hidden after the softmax: where its scores are far larger, 0 / 0 is left, so mask the scores before it."""


class CachedAttention:
    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        past = 0
        if cache is not None:
            past = cache[0].shape[2]
            keys = torch.cat([cache[0], keys], dim=2)  # (B, H, T_past + T, h)
            values = torch.cat([cache[1], values], dim=2)  # (B, H, T_past + T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T_past + T) -> (B, H, T, T_past + T)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1 + past)  # (T, T_past + T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        weights = weights.masked_fill(future, 0.0)
        weights = weights / weights.sum(dim=-1, keepdim=True)  # rows sum to 1
        return self.out_proj(merge_heads(weights @ values)), (keys, values)  # (B, T, d_out)
