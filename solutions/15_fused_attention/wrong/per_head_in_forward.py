"""forward takes the rows of qkv head by head, as GPT-NeoX lays them out, but load_unfused stacks them as three blocks: both must agree."""


class FusedMultiHeadAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(x).unflatten(-1, (self.num_heads, 3, -1))  # (B, T, H, 3, h)
        queries, keys, values = heads.permute(3, 0, 2, 1, 4)  # (B, H, T, h) each
        dropout = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout, is_causal=True)
        return self.out_proj(merge_heads(context))  # (B, H, T, h) -> (B, T, d_out)
