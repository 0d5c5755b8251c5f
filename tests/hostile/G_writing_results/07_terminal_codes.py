# exercise: 01
# verdict: failed
# tries: escape codes, bidi marks, carriage returns and look-alikes in exception, type name and print

NASTY = "\x1b[2J\x1b[32mpassed\x1b[0m\r5/5 passed\x07\x9b31m\u202e\u2066\u200f\u2028\x00\x7f\ue000\ufeff\uffff\ud800"
Evil = type("\x1b[1A\x1b[2Kp\u0430ssed\u202e", (Exception,), {"__module__": "\x1b[0m"})
print(NASTY)

import torch


def dot_product(a, b):
    raise Evil(NASTY)


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
