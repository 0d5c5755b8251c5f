"""The weights are nn.Linear layers: here they are an nn.Parameter of torch.rand each."""


class CrossAttention:
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out_kq, bias=False)  # (d_in, d_out_kq)
        self.W_key = nn.Linear(d_in, d_out_kq, bias=False)  # (d_in, d_out_kq)
        self.W_value = nn.Linear(d_in, d_out_v, bias=False)  # (d_in, d_out_v)

    def forward(self, x_1: torch.Tensor, x_2: torch.Tensor) -> torch.Tensor:
        queries = self.W_query(x_1)  # (T_1, d_out_kq)
        keys = self.W_key(x_2)  # (T_2, d_out_kq)
        values = self.W_value(x_2)  # (T_2, d_out_v)
        scores = queries @ keys.T  # (T_1, T_2)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T_1, T_2), rows sum to 1
        return weights @ values  # (T_1, T_2) @ (T_2, d_out_v) -> (T_1, d_out_v)
