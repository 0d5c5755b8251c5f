"""The largest score of the whole table is taken off: a row far below it becomes 0 / 0, so each row needs its own maximum."""


class CrossAttention:
    def forward(self, x_1: torch.Tensor, x_2: torch.Tensor) -> torch.Tensor:
        queries = x_1 @ self.W_query  # (T_1, d_out_kq)
        keys = x_2 @ self.W_key  # (T_2, d_out_kq)
        values = x_2 @ self.W_value  # (T_2, d_out_v)
        scores = queries @ keys.T  # (T_1, T_2)
        scaled = scores / keys.shape[-1] ** 0.5  # (T_1, T_2)
        exps = torch.exp(scaled - scaled.max())  # (T_1, T_2)
        weights = exps / exps.sum(dim=-1, keepdim=True)  # (T_1, T_2), rows sum to 1
        return weights @ values  # (T_1, T_2) @ (T_2, d_out_v) -> (T_1, d_out_v)
