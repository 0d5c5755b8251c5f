"""all_attention_weights leaves out the position embeddings: the layers read token + position."""


def all_attention_weights(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    x = model.token_embedding(token_ids)  # (B, T, d_model)
    weights = []
    for layer in model.layers:
        weights.append(layer.attention_weights(x))  # (B, H, T, T)
        x = x + layer(x)  # (B, T, d_model)
    return torch.stack(weights)  # (num_layers, B, H, T, T)
