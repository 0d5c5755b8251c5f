"""Heads that do not divide d_model are not refused: raise a ValueError in __init__."""


class CausalSelfAttention:
    def __init__(self, d_model: int, num_heads: int, context_length: int):
        super().__init__()
        self.num_heads, self.context_length = num_heads, context_length
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
