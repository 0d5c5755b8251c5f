"""W_query and W_key are multiplied in __init__: the product stays as it is when they are trained or loaded. Use them in forward."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.product = self.W_query @ self.W_key.T  # (d_in, d_in)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = x @ self.W_value  # (T, d_out)
        scores = x @ self.product @ x.T  # (T, T)
        weights = torch.softmax(scores / values.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
