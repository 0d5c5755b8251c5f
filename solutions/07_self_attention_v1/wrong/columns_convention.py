"""The weight matrices have the shape (d_out, d_in): here tokens are rows, so each is (d_in, d_out) and stands on the right of x."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_out, d_in))  # (d_out, d_in)
        self.W_key = nn.Parameter(torch.rand(d_out, d_in))  # (d_out, d_in)
        self.W_value = nn.Parameter(torch.rand(d_out, d_in))  # (d_out, d_in)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query.T  # (T, d_out)
        keys = x @ self.W_key.T  # (T, d_out)
        values = x @ self.W_value.T  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
