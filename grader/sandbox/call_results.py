"""The outcomes of a learner's code: the calls of a check, a result that is missing, a statement that failed on load."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Call:
    """One call that a check made, and its result."""

    text: str  # 'attention_weights(tensor (6, 3))'
    function: str  # 'attention_weights'
    want: str  # "output", "gradients" or "inputs"
    value: object = None
    problem: "LearnerError | None" = None
    seed: object = None  # of torch's generator, set before the call
    outline: str = ""  # the text without a hidden value: 'encode(a str, a dict)'


class LearnerError(Exception):
    """The learner's code did not give a result. facts: plain data about the reason.

    kind: "exception", "missing", "signature", "timeout", "ended", "protocol" or "gradient".
    """

    def __init__(self, kind: str, facts: dict[str, Any], call: Call | None = None):
        super().__init__(kind)
        self.kind, self.facts, self.call = kind, facts, call

    @property
    def is_not_started(self) -> bool:
        """Whether a stub's own `raise NotImplementedError` raised it. torch raises that exception too, with a text."""
        code = self.frame[2]
        raised = self.facts.get("type") == "NotImplementedError" and code.startswith("raise ")
        return raised and "NotImplementedError" in code

    @property
    def frame(self) -> tuple[int, str, str]:
        """The innermost frame in the learner's code: line, function and code; 0 and no words where there is none."""
        line, function, code = [*(self.facts.get("frames") or [[0, "", ""]])[-1], "", ""][:3]
        return int(line), str(function), str(code)

    def is_a(self, name: str) -> bool:
        """Whether the learner's exception is of this class or a subclass of it."""
        return name in self.facts.get("bases", ())


class Differs(Exception):
    """Ends a check whose answers are compared with those of an earlier run: one of them is another one."""


@dataclass(frozen=True)
class LeftOut:
    """A top-level statement that failed while the source was loaded, by its first line, and its error.

    The other statements were run all the same.
    """

    statement: int
    error: LearnerError

    @property
    def line(self) -> int:
        """The line that failed, inside the statement."""
        frames = self.error.facts.get("frames")
        return frames[0][0] if frames else self.statement
