"""Keys and values are projected to d_out / num_kv_groups numbers: they have num_kv_groups heads of d_out / num_heads."""


class GroupedQueryAttention:
    def __init__(self, d_in: int, d_out: int, num_heads: int, num_kv_groups: int):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_out} dimensions evenly")
        if num_heads % num_kv_groups != 0:
            raise ValueError(f"{num_kv_groups} groups cannot share {num_heads} heads evenly")
        self.num_heads, self.num_kv_groups = num_heads, num_kv_groups
        kv_size = d_out // num_kv_groups
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, kv_size, bias=False)
        self.W_value = nn.Linear(d_in, kv_size, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        keys = split_heads(self.W_key(x), self.num_heads // self.num_kv_groups)
        values = split_heads(self.W_value(x), self.num_heads // self.num_kv_groups)
        repeats = self.num_kv_groups
        keys, values = repeat_kv(keys, repeats), repeat_kv(values, repeats)  # (B, H, T, h) each
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)  # (B, H, T, T)
        scores = scores.masked_fill(future, -torch.inf)  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
