"""The new tokens see the past alone, not themselves: put their keys and values behind the cache before the scores."""


class CachedAttention:
    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        new_keys, new_values, past = keys, values, 0
        if cache is not None:
            (keys, values), past = cache, cache[0].shape[2]
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T_past + T) -> (B, H, T, T_past + T)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1 + past)  # (T, T_past + T)
        scores = scores.masked_fill(future, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # rows sum to 1
        output = self.out_proj(merge_heads(weights @ values))  # (B, T, d_out)
        if cache is not None:
            new_keys, new_values = torch.cat([keys, new_keys], dim=2), torch.cat([values, new_values], dim=2)
        return output, (new_keys, new_values)
