"""The proxy: what a check calls as if it were the learner's module.

    weights = learner.attention_weights(inputs)              # a call in the worker
    grads = learner.attention_weights.gradients(inputs)      # true gradients, by argument
    layer = learner.SelfAttention_v1(3, 2, seed=123)         # an object that stays there
    context = layer(inputs)

The same proxy stands before the solution (`reference`), run in the grader's own process.
"""

from grader.judge.proxy.held_object import without_objects
from grader.judge.proxy.learner import Learner
from grader.judge.proxy.module import Module
from grader.judge.proxy.target import StoodIn, Target
from grader.judge.proxy.tensors import tensors_in

__all__ = ["Learner", "Module", "StoodIn", "Target", "tensors_in", "without_objects"]
