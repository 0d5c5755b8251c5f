"""Broadcasting with unsqueeze and sums, log_softmax and exp, all in float32 for half types."""

import torch
import torch.nn.functional as F


def _weights(scores):
    return F.log_softmax(scores, dim=-1).exp()


def _wide(inputs):
    return inputs.to(torch.promote_types(inputs.dtype, torch.float32))


def attention_weights(inputs):
    x = _wide(inputs)
    return _weights((x.unsqueeze(1) * x.unsqueeze(0)).sum(-1)).to(inputs.dtype)


def context_vector(inputs, query_index):
    x = _wide(inputs)
    weights = _weights((x * x[query_index]).sum(-1))
    return (weights.unsqueeze(-1) * x).sum(dim=0).to(inputs.dtype)


def context_vectors(inputs):
    x = _wide(inputs)
    weights = _weights((x.unsqueeze(1) * x.unsqueeze(0)).sum(-1))
    return (weights.unsqueeze(-1) * x).sum(dim=-2).to(inputs.dtype)
