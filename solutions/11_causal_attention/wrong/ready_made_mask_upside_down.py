"""attn_mask is True where a token must not look: scaled_dot_product_attention looks where it is True."""

from torch.nn import functional as F


class CausalAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens, most = x.shape[1], self.future.shape[0]
        if tokens > most:
            raise ValueError(f"{tokens} tokens are more than the context length of {most}")
        queries = self.W_query(x)  # (B, T, d_out)
        keys = self.W_key(x)  # (B, T, d_out)
        values = self.W_value(x)  # (B, T, d_out)
        mask = self.future[:tokens, :tokens]
        p = self.dropout.p if self.training else 0.0
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=p)
