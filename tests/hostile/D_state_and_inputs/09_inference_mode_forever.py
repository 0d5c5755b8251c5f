# exercise: 01
# verdict: failed
# tries: enters inference mode and never leaves it

import torch
forever = torch.inference_mode()
forever.__enter__()

import torch


def dot_product(a, b):
    return (a + b).sum()


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
