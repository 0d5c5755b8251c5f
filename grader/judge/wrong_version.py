"""A known mistake as the diagnosis runs it."""

from dataclasses import dataclass

from grader.sandbox.local import Local


@dataclass(frozen=True, eq=False)
class WrongVersion:
    """A known mistake. `sentence`: the first line of its docstring, what the learner reads.

    overlay: what it changes; failed: the checks that it is known not to pass, None where nothing is written down of it.
    """

    name: str
    sentence: str
    overlay: str
    connection: Local
    failed: frozenset[str] | None

    def may_fail(self, check: str) -> bool:
        return self.failed is None or check in self.failed
