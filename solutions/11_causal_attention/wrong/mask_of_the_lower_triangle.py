"""The mask hides the past and the token itself: masked_fill fills −inf in where its mask is True, so True must stand above the diagonal."""


class CausalAttention:
    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        future = torch.tril(torch.ones(context_length, context_length, dtype=torch.bool))
        self.register_buffer("future", future, persistent=False)  # (context_length, context_length)
