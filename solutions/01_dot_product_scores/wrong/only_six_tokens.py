"""attention_scores counts on six tokens: take T from inputs.shape[0]."""


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    scores = torch.zeros(6, 6, dtype=inputs.dtype, device=inputs.device)
    for i in range(6):
        for j in range(6):
            scores[i, j] = (inputs[i] * inputs[j]).sum()
    return scores
