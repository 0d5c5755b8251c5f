"""The weights are nn.Linear layers, which come in exercise 08: here they are an nn.Parameter of torch.rand(d_in, d_out) each."""


class SelfAttention_v1:
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.W_query(x)  # (T, d_out)
        keys = self.W_key(x)  # (T, d_out)
        values = self.W_value(x)  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
