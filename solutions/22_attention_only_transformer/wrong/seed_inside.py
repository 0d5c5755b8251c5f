"""The layer sets the seed itself, so all layers begin alike: leave the seed to the caller."""


class CausalSelfAttention:
    def __init__(self, d_model: int, num_heads: int, context_length: int):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} dimensions evenly")
        self.num_heads, self.context_length = num_heads, context_length
        torch.manual_seed(0)
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
