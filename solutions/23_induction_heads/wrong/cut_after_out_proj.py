"""The slice is cut from what out_proj gives (its rows), where the heads are mixed already: cut it from what out_proj is given (its columns)."""


def without_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor, layer: int, head: int) -> torch.Tensor:
    positions = torch.arange(token_ids.shape[1], device=token_ids.device)  # (T,)
    x = model.token_embedding(token_ids) + model.position_embedding(positions)  # (B, T, d_model)
    for number, part in enumerate(model.layers):
        values = split_heads(part.W_value(x), part.num_heads)  # (B, H, T, h)
        mixed = part.attention_weights(x) @ values  # (B, H, T, h)
        if number == layer:
            kept = torch.arange(part.num_heads, device=x.device) != head  # (H,)
        output = part.out_proj(merge_heads(mixed))  # (B, T, d_model)
        if number == layer:
            output = merge_heads(split_heads(output, part.num_heads) * kept[:, None, None])
        x = x + output  # (B, T, d_model)
    return model.unembedding(x)  # (B, T, vocab_size)
