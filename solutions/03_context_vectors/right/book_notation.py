"""Style: the X, L, A, Y of a textbook on deep learning; scores filled in by enumerate, zeros that are added to."""

import torch
import torch.nn.functional as F


def attention_weights(inputs):
    X = inputs
    L = torch.matmul(X, X.transpose(0, 1))
    A = F.softmax(L, dim=1)
    return A


def context_vector(inputs, query_index):
    query = inputs[query_index]
    attn_scores = torch.empty(inputs.shape[0]).to(inputs)
    for i, x_i in enumerate(inputs):
        attn_scores[i] = torch.dot(x_i, query)
    attn_weights = torch.softmax(attn_scores, dim=0)
    context_vec = torch.zeros(query.shape).to(query)
    for i, x_i in enumerate(inputs):
        context_vec += attn_weights[i] * x_i
    return context_vec


def context_vectors(inputs):
    A = attention_weights(inputs)
    Y = A.matmul(inputs)
    return Y
