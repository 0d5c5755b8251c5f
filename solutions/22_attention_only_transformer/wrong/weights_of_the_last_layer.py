"""Only the last layer's weights are kept: gather those of every layer."""


def all_attention_weights(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    positions = torch.arange(token_ids.shape[1], device=token_ids.device)  # (T,)
    x = model.token_embedding(token_ids) + model.position_embedding(positions)  # (B, T, d_model)
    weights = []
    for layer in model.layers:
        weights.append(layer.attention_weights(x))  # (B, H, T, T)
        x = x + layer(x)  # (B, T, d_model)
    return torch.stack(weights[-1:])  # (num_layers, B, H, T, T)
