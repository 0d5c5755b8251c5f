# exercise: 03
# verdict: failed
# tries: a coroutine, a generator and an async generator for a result

import torch


async def attention_weights(inputs):
    return torch.softmax(inputs @ inputs.T, dim=-1)


def context_vector(inputs, query_index):
    yield torch.softmax(inputs @ inputs[query_index], dim=-1) @ inputs


async def context_vectors(inputs):
    yield torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
