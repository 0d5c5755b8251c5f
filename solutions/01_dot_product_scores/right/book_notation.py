"""Style: enumerate over tokens into a tensor made beforehand, names and demo code as in a textbook's notebook."""

import torch


def dot_product(a, b):
    res = 0.0
    for idx, element in enumerate(a):
        res += a[idx] * b[idx]
    return res


def attention_scores_for_query(inputs, query):
    attn_scores_2 = torch.empty(inputs.shape[0], dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        attn_scores_2[i] = torch.dot(x_i, query)
    return attn_scores_2


def attention_scores(inputs):
    N, D = inputs.size()
    X = inputs.contiguous().view(N, D)
    L = torch.matmul(X, torch.transpose(X, 0, 1))
    return L


if __name__ == "__main__":
    print(attention_scores(torch.eye(3)))
