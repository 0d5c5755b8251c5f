"""A mistake holds only what differs: applied to the solution it is a whole file, and what does not fit is refused."""

import functools
import json
from pathlib import Path

import pytest

from grader.catalog import mistakes, patches
from grader.catalog.errors import BadLine

SOLUTION = '''"""The solution."""

import torch
from torch import nn

SIZE = 3  # stays


def scores(x: torch.Tensor) -> torch.Tensor:
    """The scores.

    Returns: shape (T, T).
    """
    # Task 1: multiply
    y = x.clone()
    return x @ y.T  # (T, T)


class Layer(nn.Module):
    """A layer."""

    def __init__(self):
        super().__init__()
        self.size = SIZE

    @torch.no_grad()
    def forward(self, x):
        """What comes out."""
        # Task 2: scale
        x = x + 1
        x = x + 1

        return scores(x) / self.size
'''
FILE = """Known mistakes.

# scale

## halved
The scores are halved:
leave them as they are.

```diff
@@ imports @@
+import copy
@@ scores @@
     y = x.clone()
-    return x @ y.T  # (T, T)
+    return x @ y.T / 2  # (T, T)
@@ Layer.forward @@
-    @torch.no_grad()
     def forward(self, x):
-        x = x + 1
         x = x + 1

-        return scores(x) / self.size
+        return copy.copy(scores(x)) / self.size
```

# gradient
## added
One is added to the scores.
```diff
@@ scores @@
-    return x @ y.T  # (T, T)
+    return x @ y.T + 1  # (T, T)
```
"""
# What is another text in the whole file of `halved`: the definitions that it changes lose what is no code.
IN_HALVED = {
    "from torch import nn\n": "from torch import nn\nimport copy\n",
    '    """The scores.\n\n    Returns: shape (T, T).\n    """\n    # Task 1: multiply\n': "",
    "return x @ y.T  #": "return x @ y.T / 2  #",
    "    @torch.no_grad()\n": "",
    '        """What comes out."""\n        # Task 2: scale\n        x = x + 1\n': "",
    "return scores(x)": "return copy.copy(scores(x))",
}
# The beginnings of hunks, each with the line that it takes out.
CLONE = "@@ scores @@\n-    y = x.clone()\n"
RETURN = "@@ scores @@\n-    return x @ y.T  # (T, T)\n"
PATH = Path("mistakes.md")


def read(text: str):
    return mistakes.read(PATH, text, SOLUTION)


def test_a_mistake_is_applied_to_the_solution():
    added, halved = read(FILE)
    assert (added.name, added.misconception, added.sentence) == ("added", "gradient", "One is added to the scores.")
    assert (halved.misconception, halved.sentence) == ("scale", "The scores are halved: leave them as they are.")
    assert halved.source == functools.reduce(lambda text, change: text.replace(*change), IN_HALVED.items(), SOLUTION)
    assert halved.definitions == ("scores", "Layer.forward")
    assert FILE.split("\n")[halved.line - 1] == "## halved"
    assert added.changes == ["@@ scores @@", "-    return x @ y.T  # (T, T)", "+    return x @ y.T + 1  # (T, T)"]


def test_changes_of_one_power_are_no_two_mistakes():
    solution = "def f(x, d):\n    return x / d ** 0.5\n"
    halved, squared = (solution.replace("** 0.5", other) for other in ("* 0.5", "** 2"))
    assert patches.merge(solution, halved, squared) is None, "x / d * 2 is neither halved nor squared"
    by_two, by_d = solution.replace("/ d", "/ 2"), solution.replace(" ** 0.5", "")
    assert patches.merge(solution, by_two, by_d) is None, "x / 2 is divided neither by √2 nor by d"
    assert "-x / d ** 2" in str(patches.merge(solution, solution.replace("x /", "-x /"), squared))


def test_two_mistakes_are_merged_by_making_the_changes_of_both():
    added, halved = read(FILE)
    merged = patches.merge(SOLUTION, added.source, halved.source)
    assert merged is None  # both change what follows y.T
    other = FILE.replace("+    return x @ y.T + 1", "+    return 3 * x @ y.T")
    added, halved = read(other)
    merged = patches.merge(SOLUTION, added.source, halved.source)
    assert "return 3 * x @ y.T / 2" in merged and "import copy" in merged and "copy.copy" in merged


def changed(old: str, new: str) -> str:
    assert old in FILE
    return FILE.replace(old, new, 1)


def one(hunks: str, sentence: str = "A sentence.") -> str:
    return f"# a\n## b\n{sentence}\n```diff\n{hunks}\n```\n"


def objections(text: str, solution: str = SOLUTION) -> list[tuple[int, str]]:
    """What is said against the last mistake of a file: the line, and the reason."""
    try:
        mistake = mistakes.read(PATH, text, solution)[-1]
        mistake.source  # noqa: B018
    except BadLine as error:
        assert str(error).startswith(f"mistakes.md:{error.line}: ")
        return [(error.line, error.reason)]
    refusal = mistakes.revealed(mistake)
    return [(refusal.line, refusal.reason)] if refusal else []


REFUSED = [
    # A file that cannot be read.
    (changed("## halved", "## Halved it"), 5, "“Halved it” is no name for a mistake"),
    (changed("## added", "## halved"), 27, "there is another mistake halved in line 5"),
    (changed("# scale\n", ""), 4, "halved comes before the first heading"),
    (changed("```diff", "```python"), 5, "one block, from ```diff to ```"),
    (changed("```\n\n# gradient", "```\nMore.\n\n# gradient"), 25, "nothing follows the diff"),
    (changed("@@ imports @@\n", ""), 10, "a diff begins with the definition that it changes"),
    (changed("@@ scores @@", "@@ -1,3 +1,3 @@"), 12, "write the definition like this"),
    (changed("+import copy", "import copy"), 11, "a line of a diff begins with"),
    # What does not apply, at exactly one place.
    (changed("@@ scores @@", "@@ score @@"), 12, "has no function or method score"),
    (changed("@@ Layer.forward @@", "@@ forward @@"), 16, "has no function or method forward"),
    (changed("-    return x @ y.T  #", "-    return x  @ y.T  #"), 14, "no line return x  @ y.T  # (T, T); the n"),
    (changed("     y = x.clone()", "     z = 3"), 13, "scores has no line z = 3"),
    (changed("     def forward(self, x):\n-", "-"), 16, "its lines do not follow each other in Layer.forward"),
    (changed("+import copy", "+x = 3"), 10, "adds import statements and nothing else"),
    (changed("+import copy", "-import torch"), 10, "adds import statements and nothing else"),
    (changed("/ 2  # (T, T)", "/ (2  # (T, T)"), 10, "the changed code is no Python"),
    (one("@@ Layer.forward @@\n-        x = x + 1\n+        x = x + 2"), 5, "its lines appear 2 times in Layer"),
    (one("@@ scores @@\n+    x = 1"), 5, "it holds no line of the solution"),
    (one(CLONE + "+    y = x\n" + CLONE + "+    x = y"), 8, "it changes the same lines as another hunk"),
    # What is no mistake of the solution.
    (
        one("@@ scores @@\n-def scores(x: torch.Tensor) -> torch.Tensor:\n+def score(x):"),
        5,
        "it renames, adds or removes a definition: score, scores",
    ),
]
TELLS = one("@@ scores @@\n-    return x @ y.T * 1  # (T, T)\n+    return y", "Write return x @ y.T * 1.")


@pytest.mark.parametrize(("text", "line", "words"), REFUSED)
def test_what_is_no_mistake_is_refused_with_its_line(text, line, words):
    [(place, reason)] = objections(text)
    assert place == line and words in reason


def test_a_sentence_that_tells_the_solution_is_refused():
    [(line, reason)] = objections(TELLS, SOLUTION.replace("x @ y.T ", "x @ y.T * 1 "))
    assert line == 3 and "return x @ y T *" in reason


def test_a_mistake_that_runs_and_tells_the_fault_alone_is_taken():
    assert objections(one(RETURN + "+    return x @ y", "`y.T` is missing in scores: it needs it.")) == []
    assert objections(one(RETURN + "+    return y @ y.T\n" + CLONE + "+    y = 2 * x")) == []  # two hunks


def test_what_is_recorded_is_read_back():
    rows = {"b": mistakes.NotPassed(("one",), ("three",)), "a": mistakes.NotPassed(("two", "three"))}
    text = mistakes.as_json(["one", "two", "three"], rows)
    assert json.loads(text) == {"checks": ["one", "two", "three"], "mistakes": {"a": ".xx", "b": "x.-"}}
