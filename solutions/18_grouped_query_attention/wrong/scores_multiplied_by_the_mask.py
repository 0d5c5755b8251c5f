"""The scores are multiplied by a mask of ones and zeros: a score of 0 still gets a weight, since exp(0) is 1."""


class GroupedQueryAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        keys = split_heads(self.W_key(x), self.num_kv_groups)  # (B, G, T, h)
        values = split_heads(self.W_value(x), self.num_kv_groups)  # (B, G, T, h)
        repeats = self.num_heads // self.num_kv_groups
        keys, values = repeat_kv(keys, repeats), repeat_kv(values, repeats)  # (B, H, T, h) each
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, H, T, T)
        scores = scores * ~future  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
