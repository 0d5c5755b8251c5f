"""As the document writes the naive one; the stable one calls it after moving dim to the front."""

import torch


def normalize_by_sum(scores):
    total = torch.sum(scores)
    return scores / total


def softmax_naive(x):
    return torch.exp(x) / torch.exp(x).sum(dim=0)


def softmax_stable(x, dim=-1):
    x = x.transpose(0, dim)
    return softmax_naive(x - x.max(dim=0).values).transpose(0, dim)


if __name__ == "__main__":
    scores = torch.randn(4)
    print(torch.allclose(softmax_stable(scores), torch.softmax(scores, dim=0)))
