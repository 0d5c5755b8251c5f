"""torch.sqrt is given an int, d_k, and takes tensors alone: write d_k ** 0.5 or math.sqrt(d_k)."""


class SelfAttention_v2:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_key(x)  # (..., T, d_out)
        values = self.W_value(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores / torch.sqrt(keys.shape[-1]), dim=-1)  # (..., T, T), rows sum to 1
        return weights @ values  # (..., T, T) @ (..., T, d_out) -> (..., T, d_out)
