"""W_query, W_key and W_value have a bias: no layer of this model has one."""


class CausalSelfAttention:
    def __init__(self, d_model: int, num_heads: int, context_length: int):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} dimensions evenly")
        self.num_heads, self.context_length = num_heads, context_length
        self.W_query = nn.Linear(d_model, d_model)
        self.W_key = nn.Linear(d_model, d_model)
        self.W_value = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
