"""The hostile files of tests/hostile: a Markdown file for each class, `## name` and a block of Python for each attack.

The first lines of each say the exercise, the verdict that it deserves, and what it tries.
"""

import re
from dataclasses import dataclass
from pathlib import Path

HOSTILE = Path(__file__).parent / "hostile"
BLOCK = re.compile(r"^## (\S+)\n```python\n(.*?)^```$", re.M | re.S)
HEADER = re.compile(r"^# (exercise|verdict|tries|note|appends): (.+)$", re.M)


@dataclass(frozen=True)
class Attack:
    """One file, and what its header says of it.

    group: "B_fooling_the_comparison"; note: what the note for the teacher names; appends: Python that gives more text.
    """

    group: str
    title: str
    source: str
    exercise: str
    verdict: str
    note: str
    appends: str

    @property
    def name(self) -> str:
        return f"{self.group[0]}{self.title}"


def read(path: Path) -> list[Attack]:
    """The attacks of one class."""
    found = []
    for title, source in BLOCK.findall(path.read_text("utf-8")):
        facts = dict(reversed(HEADER.findall(source)))
        assert {"exercise", "verdict", "tries"} <= set(facts), f"{path}: {title} lacks its header"
        rest = (facts.get(key, "") for key in ("exercise", "verdict", "note", "appends"))
        found.append(Attack(path.stem, title, source, *rest))
    return found


ATTACKS = [attack for path in sorted(HOSTILE.glob("*.md")) for attack in read(path)]
