"""The layer has a fourth nn.Linear behind the context vectors: it is W_query, W_key and W_value alone."""


class SelfAttention_v2:
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)  # weight (d_out, d_in), bias (d_out,)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_key(x)  # (..., T, d_out)
        values = self.W_value(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (..., T, T), rows sum to 1
        return self.out_proj(weights @ values)  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
