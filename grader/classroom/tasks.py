"""The messages of a grading process: it receives settings and tasks, and returns outcomes."""

import json
from dataclasses import asdict, dataclass

from grader.records.results import Settings


@dataclass(frozen=True)
class Task:
    """One submission to grade. key: that of its result in the store."""

    key: str
    exercise: str
    source: str
    filename: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """The settings of the gradings. silence_s: a process that sends no message for so many seconds is replaced."""

    settings: Settings
    tier: str | None = None
    accept_tier: str | None = None
    silence_s: float = 200.0

    @property
    def line(self) -> str:
        """The order as one line of JSON."""
        order = {"device": self.settings.device, "tier": self.tier, "accept_tier": self.accept_tier}
        return json.dumps(order | {"settings": asdict(self.settings)})


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task: a record for the store, or the trouble because of which there is none."""

    task: Task
    record: str = ""
    status: str = ""
    trouble: str = ""
