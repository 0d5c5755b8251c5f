import torch


class SelfAttentionV1(torch.nn.Module):
    pass
