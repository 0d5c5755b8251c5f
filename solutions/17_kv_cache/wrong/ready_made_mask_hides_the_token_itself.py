"""The mask that scaled_dot_product_attention is given hides the token itself, and the first one sees nothing: the diagonal stays."""

from torch.nn import functional as F


class CachedAttention:
    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h)
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        past = 0
        if cache is not None:
            past = cache[0].shape[2]
            keys = torch.cat([cache[0], keys], dim=2)  # (B, H, T_past + T, h)
            values = torch.cat([cache[1], values], dim=2)  # (B, H, T_past + T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T_past + T) -> (B, H, T, T_past + T)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(past)  # (T, T_past + T)
        mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=~future)  # (B, H, T, h)
        return self.out_proj(merge_heads(mixed)), (keys, values)  # (B, T, d_out)
