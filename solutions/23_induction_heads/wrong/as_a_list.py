"""Layer and head come as text: give two ints."""


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    scores = induction_score(all_attention_weights(model, token_ids), token_ids.shape[1] // 2)  # (num_layers, B, H)
    best = int(scores.mean(dim=1).argmax())  # counts through all heads of all layers
    layer, head = divmod(best, scores.shape[-1])
    return f"{layer}.{head}"
