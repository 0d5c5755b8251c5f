"""Heads stand behind the tokens, as the flash-attn package wants them: torch's function wants (B, H, T, h), else heads attend to heads."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)  # (B, T, 3 * d_out) -> three of (B, T, d_out)
        queries, keys, values = (part.unflatten(-1, (self.num_heads, -1)) for part in parts)  # (B, T, H, h) each
        dropout = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        return self.out_proj(context.flatten(-2))  # (B, H, T, h) -> (B, T, d_out)
