# exercise: 01
# verdict: failed
# tries: writes, truncates and appends to results, grade book and progress

import os
TREE = bytes.fromhex("@TREE@").decode()


def act():
    for name in ("/results.json", "/gradebook.csv", "/.kata-progress.json", "/solutions/01_dot_product_scores/dot_product_scores.py"):
        for mode in ("w", "a", "r+", "x"):
            try:
                with open(TREE + name, mode) as file:
                    file.write('{"status": "passed"}')
            except OSError:
                pass
        for way in (lambda: os.truncate(TREE + name, 0), lambda: os.open(TREE + name, os.O_TRUNC | os.O_WRONLY)):
            try:
                way()
            except OSError:
                pass


try:
    act()
except BaseException:
    pass


import torch


def dot_product(a, b):
    return (a + b).sum()


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
