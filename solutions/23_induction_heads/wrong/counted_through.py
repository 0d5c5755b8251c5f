"""The head is numbered through all layers: give its layer and its number in it."""


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    scores = induction_score(all_attention_weights(model, token_ids), token_ids.shape[1] // 2)  # (num_layers, B, H)
    best = int(scores.mean(dim=1).argmax())  # counts through all heads of all layers
    return best
