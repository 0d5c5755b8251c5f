"""Batch and tokens have changed places: each token attends to tokens of other sequences, so leave the first dimension alone."""


class SelfAttention_v2:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.transpose(0, 1) if x.dim() == 3 else x  # (T, B, d_in)
        queries = self.W_query(x)  # (..., T, d_out)
        keys = self.W_key(x)  # (..., T, d_out)
        values = self.W_value(x)  # (..., T, d_out)
        scores = queries @ keys.transpose(-2, -1)  # (..., T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (..., T, T), rows sum to 1
        context = weights @ values  # (T, B, d_out)
        return context.transpose(0, 1) if x.dim() == 3 else context  # (..., T, d_out)
