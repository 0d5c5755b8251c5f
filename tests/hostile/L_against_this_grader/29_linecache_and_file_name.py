# exercise: 01
# verdict: failed
# tries: its file name, lines and module name are others
# note: sys.modules

import linecache
import sys
__name__ = "\x1b[31m" + "x" * 5000
__file__ = "/etc/passwd"
linecache.cache.clear()
linecache.getlines = lambda *_: ["secret"]
sys.modules[__name__] = sys.modules["torch"]

import torch


def dot_product(a, b):
    raise ValueError('x')


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
