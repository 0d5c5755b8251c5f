"""forward of CrossAttention calls its argument queries_from. The lesson calls it x_1: callers may use the name."""


class CrossAttention:
    def forward(self, queries_from: torch.Tensor, x_2: torch.Tensor) -> torch.Tensor:
        x_1 = queries_from
        queries = x_1 @ self.W_query  # (T_1, d_out_kq)
        keys = x_2 @ self.W_key  # (T_2, d_out_kq)
        values = x_2 @ self.W_value  # (T_2, d_out_v)
        scores = queries @ keys.T  # (T_1, T_2)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T_1, T_2), rows sum to 1
        return weights @ values  # (T_1, T_2) @ (T_2, d_out_v) -> (T_1, d_out_v)
