"""W_query, W_key and W_value have a bias here: only out_proj is to have one."""


class GroupedQueryAttention:
    def __init__(self, d_in: int, d_out: int, num_heads: int, num_kv_groups: int):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_out} dimensions evenly")
        if num_heads % num_kv_groups != 0:
            raise ValueError(f"{num_kv_groups} groups cannot share {num_heads} heads evenly")
        self.num_heads, self.num_kv_groups = num_heads, num_kv_groups
        kv_size = num_kv_groups * (d_out // num_heads)  # G * h
        self.W_query = nn.Linear(d_in, d_out)
        self.W_key = nn.Linear(d_in, kv_size)
        self.W_value = nn.Linear(d_in, kv_size)
        self.out_proj = nn.Linear(d_out, d_out)
