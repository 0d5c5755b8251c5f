"""The cache is a dict: a tuple of the keys and the values is asked for."""


class CachedAttention:
    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        past = 0
        if cache is not None:
            past = cache["keys"].shape[2]
            keys = torch.cat([cache["keys"], keys], dim=2)  # (B, H, T_past + T, h)
            values = torch.cat([cache["values"], values], dim=2)  # (B, H, T_past + T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T_past + T) -> (B, H, T, T_past + T)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1 + past)  # (T, T_past + T)
        scores = scores.masked_fill(future, -torch.inf)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # rows sum to 1
        return self.out_proj(merge_heads(weights @ values)), {"keys": keys, "values": values}  # (B, T, d_out)
