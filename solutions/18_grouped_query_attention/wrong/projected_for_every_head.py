"""Keys and values are projected for every head of queries: project num_kv_groups heads of each, and repeat these."""


class GroupedQueryAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        repeats = self.num_heads // self.num_kv_groups
        rows = [layer.weight.unflatten(0, (1, self.num_kv_groups, -1)) for layer in (self.W_key, self.W_value)]
        keys, values = (x[:, None] @ repeat_kv(weight, repeats).mT for weight in rows)  # (B, H, T, h) each
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, H, T, T)
        scores = scores.masked_fill(future, -torch.inf)  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
