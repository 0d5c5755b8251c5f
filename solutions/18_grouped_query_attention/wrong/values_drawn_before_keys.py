"""W_value is drawn before W_key: after W_query comes W_key, then W_value and out_proj."""


class GroupedQueryAttention:
    def __init__(self, d_in: int, d_out: int, num_heads: int, num_kv_groups: int):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_out} dimensions evenly")
        if num_heads % num_kv_groups != 0:
            raise ValueError(f"{num_kv_groups} groups cannot share {num_heads} heads evenly")
        self.num_heads, self.num_kv_groups = num_heads, num_kv_groups
        kv_size = num_kv_groups * (d_out // num_heads)  # G * h
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, kv_size, bias=False)
        self.W_key = nn.Linear(d_in, kv_size, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)
