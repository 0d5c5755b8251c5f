"""Half types computed in float32 and cast back; the upper half of the table mirrored."""

import torch


def _wide(x):
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def dot_product(a, b):
    products = _wide(a) * _wide(b)
    while products.shape[0] > 1:  # add up in pairs
        if products.shape[0] % 2:
            products = torch.cat([products, torch.zeros_like(products[:1])])
        products = products[0::2] + products[1::2]
    return products.squeeze(0).to(a.dtype)


def attention_scores_for_query(inputs, query):
    return (_wide(inputs) @ _wide(query)).to(inputs.dtype)


def attention_scores(inputs):
    upper = torch.triu(_wide(inputs) @ _wide(inputs).T)
    return (upper + torch.triu(upper, diagonal=1).T).to(inputs.dtype)
