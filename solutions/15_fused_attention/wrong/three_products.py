"""Three products with slices of qkv.weight take the place of one: call self.qkv once, then cut its result."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        biases = (None,) * 3 if self.qkv.bias is None else self.qkv.bias.chunk(3)
        parts = [F.linear(x, *pair) for pair in zip(self.qkv.weight.chunk(3), biases)]  # three of (B, T, d_out)
        queries, keys, values = (split_heads(part, self.num_heads) for part in parts)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
