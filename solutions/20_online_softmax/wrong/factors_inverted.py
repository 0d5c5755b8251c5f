"""merge_blocks multiplies by exp(merged − own maximum): a sum shrinks by exp(own − merged maximum)."""


def merge_blocks(
    max_a: torch.Tensor,
    sum_a: torch.Tensor,
    out_a: torch.Tensor,
    max_b: torch.Tensor,
    sum_b: torch.Tensor,
    out_b: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    maximum = torch.maximum(max_a, max_b)  # (…)
    part_a = sum_a * torch.exp(maximum - max_a)  # (…)
    part_b = sum_b * torch.exp(maximum - max_b)  # (…)
    total = part_a + part_b  # (…)
    output = out_a * (part_a / total)[..., None] + out_b * (part_b / total)[..., None]  # (…, h)
    return maximum, total, output
