"""An assert raises an AssertionError, and python -O leaves it out: raise a ValueError."""


class CausalSelfAttention:
    def __init__(self, d_model: int, num_heads: int, context_length: int):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads, self.context_length = num_heads, context_length
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
