"""Refuses torch's ready-made operations during one call: a guard rail at torch's dispatcher.

Every road to an operation ends there, whatever name it was called by. Hits are counted even where
the learner's code swallows what it sees, because nothing is raised: the grader judges the count.
"""

import sys

from torch.utils._python_dispatch import TorchDispatchMode


class Ban(TorchDispatchMode):
    """Notes each call of an operation in `names` ("mm", "_softmax") with the learner's line."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch imports torch._dynamo at the first call: most of a second

    def __init__(self, names: list[str], filename: str):
        super().__init__()
        self.names, self.filename, self.hits = frozenset(names), filename, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function._schema.name.removeprefix("aten::")
        if name in self.names and len(self.hits) < 20:
            self.hits.append([name, self._line()])
        return function(*args, **(kwargs or {}))

    def _line(self) -> int:
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else 0
