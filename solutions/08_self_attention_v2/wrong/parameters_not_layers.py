"""The weights are an nn.Parameter each, as in exercise 07: here each is an nn.Linear."""


class SelfAttention_v2:
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        super().__init__()
        self.W_query = nn.Parameter(torch.empty(d_out, d_in).uniform_(-(d_in**-0.5), d_in**-0.5))
        self.W_key = nn.Parameter(torch.empty(d_out, d_in).uniform_(-(d_in**-0.5), d_in**-0.5))
        self.W_value = nn.Parameter(torch.empty(d_out, d_in).uniform_(-(d_in**-0.5), d_in**-0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = x @ self.W_query.T  # (..., T, d_out)
        keys = x @ self.W_key.T  # (..., T, d_out)
        values = x @ self.W_value.T  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (..., T, T), rows sum to 1
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(weight.detach().T for weight in (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value))
