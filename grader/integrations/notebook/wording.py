"""A lesson's words for a notebook, where code is in cells and a call does what make does in a terminal."""

import re

from grader.desk import lesson

TRY = re.compile(r"(?:Type )?`make try EX=\d+`.*?(?:\.(?=\s|\Z)|:(?=\n\n|\Z))", re.S)  # up to the end of the sentence
OWN_LINE = re.compile(r" ?A line of your own: `make try [^`]*`\.", re.S)
CALLS = "Run the cells with the lesson's calls as you go: the comments show the lesson's values"
CALL = re.compile(r"`make (check|hint|plot|experiment)(?: EX=\d+)?`")
TITLE = re.compile(r"# (\d\d) ")
IN_A_TERMINAL = re.compile(r"`(make [a-z]+[^`]*)`")
BLOCK = re.compile(r"^(```\w*\n)(?=make )", re.M)
SCRIPT = re.compile(r"\[experiment\.py\]\(experiment\.py\)")
RAN = re.compile(r"make try EX=\d+")


def of_lesson(markdown: str, slug: str) -> str:
    """Markdown of a lesson that names no target of make without a terminal, and no file to write in."""
    text = OWN_LINE.sub("", lesson.without_still(markdown))
    text = TRY.sub(lambda found: f"{CALLS}{found[0][-1]}", text)
    text = CALL.sub(r"`\1()`", text)
    if title := TITLE.match(markdown):  # the file beside the notebook is still the stub
        train, folder = f"make train EX={title[1]}", f"{title[1]}_{slug}"
        text = text.replace(f"`{train}`", f"`{train} SUBMISSION=exercises/{folder}/{slug}.ipynb`")
    text = IN_A_TERMINAL.sub(r"`\1` (in a terminal)", text)
    text = BLOCK.sub(r"\1# in a terminal\n", text)
    text = SCRIPT.sub("beside this notebook", text)
    text = re.sub(rf"exercises/\w+/{re.escape(slug)}\.py", "YOUR_FILE", text)
    file = re.escape(f"`{slug}.py`")
    text = re.sub(rf"You write {file}: ", "You write ", text)
    text = re.sub(rf"\b(in|into) {file}", r"\1 the cells of this notebook", text)
    text = re.sub(rf"Write {file}", "Write it in the cells of this notebook", text)
    return re.sub(file, "this notebook", text)


def of_message(text: str) -> str:
    """A message of a verdict."""
    return RAN.sub("the cell again", text)
