"""The scores of the future are set to a number such as −20, which is not small enough beside large scores. It takes −inf."""


class CausalAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens, most = x.shape[1], self.future.shape[0]
        if tokens > most:
            raise ValueError(f"{tokens} tokens are more than the context length of {most}")
        queries = self.W_query(x)  # (B, T, d_out)
        keys = self.W_key(x)  # (B, T, d_out)
        values = self.W_value(x)  # (B, T, d_out)
        scores = queries @ keys.mT  # (B, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -20.0)  # (B, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T)
        weights = self.dropout(weights)  # (B, T, T)
        return weights @ values  # (B, T, T) @ (B, T, d_out) -> (B, T, d_out)
