"""The weights are nn.Parameters, as in SelfAttention_v1. Here they are nn.Linear layers, called W_query, W_key and W_value."""


class CausalAttention:
    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))
        self.dropout = nn.Dropout(dropout)
        future = torch.triu(torch.ones(context_length, context_length, dtype=torch.bool), diagonal=1)
        self.register_buffer("future", future, persistent=False)  # (context_length, context_length)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens, most = x.shape[1], self.future.shape[0]
        if tokens > most:
            raise ValueError(f"{tokens} tokens are more than the context length of {most}")
        queries = x @ self.W_query  # (B, T, d_out)
        keys = x @ self.W_key  # (B, T, d_out)
        values = x @ self.W_value  # (B, T, d_out)
        scores = queries @ keys.mT  # (B, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T)
        weights = self.dropout(weights)  # (B, T, T)
        return weights @ values  # (B, T, T) @ (B, T, d_out) -> (B, T, d_out)
