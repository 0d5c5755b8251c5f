"""The shares are detached: the gradients of maxima and sums through the output are lost."""


def merge_blocks(
    max_a: torch.Tensor,
    sum_a: torch.Tensor,
    out_a: torch.Tensor,
    max_b: torch.Tensor,
    sum_b: torch.Tensor,
    out_b: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    maximum = torch.maximum(max_a, max_b)  # (…)
    part_a = sum_a * torch.exp(max_a - maximum)  # (…)
    part_b = sum_b * torch.exp(max_b - maximum)  # (…)
    total = part_a + part_b  # (…)
    a, b = (part_a / total).detach()[..., None], (part_b / total).detach()[..., None]
    output = out_a * a + out_b * b  # (…, h)
    return maximum, total, output
