"""The visible part of a page: a page longer than the terminal scrolls, and can be searched.

Textual was weighed for this. It is up in 0.18 s here where rich takes 0.08 s, which could be borne. But its loop would
have to take over the keys, the signals (Ctrl-Z, a closed window) and the events of the grading thread, which one
`select` serves now, and it draws on a screen of its own, so that nothing stays in the terminal at the end. All that
was missing is the few lines below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.text import Text

UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END = "up", "down", "page up", "page down", "home", "end"
SCROLLING = (UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END, " ")
MATCH = "reverse"  # the style of what was searched for


@dataclass
class Pager:
    """The lines of a page (with escape codes), the first one that is seen, and how many are seen."""

    lines: Sequence[str] = ()
    top: int = 0
    room: int = 1
    searched: str = ""
    found: int | None = field(default=None)  # the line that the search has led to

    @property
    def scrolls(self) -> bool:
        """Whether the page is longer than what is seen of it."""
        return len(self.lines) > self.room

    @property
    def position(self) -> str:
        """The visible lines in words; "" where all are visible."""
        if not self.scrolls:
            return ""
        return f"lines {self.top + 1} to {min(self.top + self.room, len(self.lines))} of {len(self.lines)}"

    def show(self, lines: Sequence[str], room: int) -> None:
        """Take other lines, and stay where it was: at the end, where it was there and the page has grown."""
        was_at_end = self.top > 0 and self.top + self.room >= len(self.lines)
        self.lines, self.room = lines, max(1, room)
        self._go(len(lines) if was_at_end else self.top)

    def reset(self) -> None:
        """Another page: from its head."""
        self.top, self.searched, self.found = 0, "", None

    def press(self, key: str) -> bool:
        """Scroll. Returns whether the key is one that scrolls."""
        if key not in SCROLLING:
            return False
        page, last = max(1, self.room - 1), len(self.lines)
        by = {UP: -1, DOWN: 1, PAGE_UP: -page, PAGE_DOWN: page, " ": page, HOME: -last, END: last}
        self._go(self.top + by[key])
        return True

    def search(self, text: str) -> bool:
        """Go to the next line that holds the text, from the top again after the last. An empty text: the last one."""
        self.searched = text.lower() or self.searched
        first = self.top if self.found is None else self.found + 1
        plain = [Text.from_ansi(line).plain.lower() for line in self.lines]
        order = [*range(first, len(plain)), *range(min(first, len(plain)))]
        self.found = next((number for number in order if self.searched and self.searched in plain[number]), None)
        if self.found is not None:
            self._go(self.found)
        return self.found is not None

    def seen(self) -> list[Text]:
        """The lines that are seen, with what was searched for marked in them."""
        shown = [Text.from_ansi(line, no_wrap=True, overflow="ignore") for line in self.visible()]
        for text in shown:
            if self.searched:
                text.highlight_words([self.searched], MATCH, case_sensitive=False)
        return shown

    def visible(self) -> Sequence[str]:
        """The same as they are."""
        return self.lines[self.top : self.top + self.room]

    def _go(self, top: int) -> None:
        self.top = max(0, min(top, len(self.lines) - self.room))
