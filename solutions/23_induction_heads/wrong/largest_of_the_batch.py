"""The largest score of any sequence decides: take the mean over the batch."""


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    scores = induction_score(all_attention_weights(model, token_ids), token_ids.shape[1] // 2)  # (num_layers, B, H)
    best = int(scores.amax(dim=1).argmax())  # counts through all heads of all layers
    return divmod(best, scores.shape[-1])
