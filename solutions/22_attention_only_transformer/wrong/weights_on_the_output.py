"""A layer is shown vectors that it has added to already: take its weights before you add its output."""


def all_attention_weights(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> torch.Tensor:
    positions = torch.arange(token_ids.shape[1], device=token_ids.device)  # (T,)
    x = model.token_embedding(token_ids) + model.position_embedding(positions)  # (B, T, d_model)
    weights = []
    for layer in model.layers:
        x = x + layer(x)  # (B, T, d_model)
        weights.append(layer.attention_weights(x))  # (B, H, T, T)
    return torch.stack(weights)  # (num_layers, B, H, T, T)
