"""Tokens of x_2 that are all zeros are hidden, as padding would be: there is no padding here, each token of x_2 counts."""


class CrossAttention:
    def forward(self, x_1: torch.Tensor, x_2: torch.Tensor) -> torch.Tensor:
        queries = x_1 @ self.W_query  # (T_1, d_out_kq)
        keys = x_2 @ self.W_key  # (T_2, d_out_kq)
        values = x_2 @ self.W_value  # (T_2, d_out_v)
        scores = queries @ keys.T  # (T_1, T_2)
        scores = scores.masked_fill((x_2 == 0).all(dim=-1), -torch.inf)  # (T_1, T_2)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T_1, T_2), rows sum to 1
        return weights @ values  # (T_1, T_2) @ (T_2, d_out_v) -> (T_1, d_out_v)
