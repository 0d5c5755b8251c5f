# exercise: 01
# verdict: failed
# tries: writes files wherever it can

import os

import torch


def dot_product(a, b):
    for place in ('/tmp', '/dev/shm', '/var/tmp', '.', '/run', os.path.expanduser('~')):
        for number in range(3):
            try:
                with open(f'{place}/kata-hostile-{number}', 'wb') as file:
                    file.write(bytes(1 << 20))
            except OSError:
                pass
    return a


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
