"""Outputs are taken and given undivided, as FlashAttention has them on its way: here they are divided by their sums."""


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
    a, b = torch.exp(max_a - maximum), torch.exp(max_b - maximum)
    output = out_a * a[..., None] + out_b * b[..., None]  # (…, h)
    return maximum, total, output
