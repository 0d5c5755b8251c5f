"""A course of one exercise, and nbgrader's real commands in it."""

import contextlib
import copy
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

from extras import WhenUsed

from grader.catalog import paths

nbformat, apps = WhenUsed("nbformat"), WhenUsed("nbgrader.apps")

FOLDER = "03_context_vectors"
FULL = {"task_1": 2.5, "task_2": 1.0, "task_3": 3.5}  # what the solution gets
APPS = {
    "autograde": "AutogradeApp", "collect": "CollectApp", "export": "ExportApp",
    "fetch_assignment": "FetchAssignmentApp", "generate_assignment": "GenerateAssignmentApp",
    "generate_feedback": "GenerateFeedbackApp", "release_assignment": "ReleaseAssignmentApp",
    "release_feedback": "ReleaseFeedbackApp", "submit": "SubmitApp", "validate": "ValidateApp",
}  # fmt: skip
MARKS = re.compile(r" *### (BEGIN|END) SOLUTION\n?")


class Course:
    """A course folder, and nbgrader's real commands in it.

    They run in this process, which saves the imports and the start of a fork server.
    """

    def __init__(self, root: Path):
        self.root = root

    def nbgrader(self, command: str, *words: str, ok: bool = True) -> subprocess.CompletedProcess:
        """`nbgrader("autograde", FOLDER)` runs what `nbgrader autograde` runs, in the course folder."""
        from nbgrader.validator import Validator

        app = getattr(apps, APPS[command])()
        before, printed, logged, code = Path.cwd(), io.StringIO(), io.StringIO(), 0
        os.chdir(self.root)
        try:
            with (
                mock.patch.dict(os.environ, environment()),
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(logged),
                mock.patch.object(Validator, "stream", printed),
            ):
                app.initialize(list(words))
                app.start()
        except SystemExit as ended:
            code = ended.code
        finally:
            os.chdir(before)
        assert not ok or not code, logged.getvalue()
        return subprocess.CompletedProcess([command, *words], code, printed.getvalue(), logged.getvalue())

    def source(self) -> "nbformat.NotebookNode":
        return nbformat.read(self.root / "source" / FOLDER / f"{FOLDER}.ipynb", 4)

    def released(self) -> "nbformat.NotebookNode":
        return nbformat.read(self.root / "release" / FOLDER / f"{FOLDER}.ipynb", 4)

    def solved(self) -> "nbformat.NotebookNode":
        """The released notebook with the solution's cells in it."""
        notebook, answers = self.released(), {cell.id: MARKS.sub("", cell.source) for cell in self.source().cells}
        for cell in notebook.cells:
            if cell.id.startswith("write_"):
                cell.source = answers[cell.id]
        return notebook

    def submit(self, student: str, notebook, timestamp: str = "") -> Path:
        """A submission as `nbgrader collect` leaves it."""
        folder = self.root / "submitted" / student / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        text = notebook if isinstance(notebook, str) else nbformat.writes(copy.deepcopy(notebook))
        (folder / f"{FOLDER}.ipynb").write_text(text, "utf-8")
        shutil.copy(self.root / "release" / FOLDER / "documented_checks.py", folder)
        if timestamp:
            (folder / "timestamp.txt").write_text(timestamp)
        return folder

    def autograded(self, student: str) -> "nbformat.NotebookNode":
        return nbformat.read(self.root / "autograded" / student / FOLDER / f"{FOLDER}.ipynb", 4)

    def gradebook(self):
        from nbgrader.api import Gradebook

        return Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", self.root.name)

    def scores(self, student: str) -> dict[str, float | None]:
        """What the autograder gave, by grade cell."""
        with self.gradebook() as book:
            notebook = book.find_submission_notebook(FOLDER, FOLDER, student)
            return {grade.name: grade.auto_score for grade in notebook.grades}


def environment() -> dict[str, str]:
    """No settings of the machine's users; this interpreter and this grader first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": str(paths.ROOT),
        "JUPYTER_NO_CONFIG": "1",
        "PYTHONWARNINGS": "ignore",
    }


def cell(notebook, id: str):
    return next(c for c in notebook.cells if c.id == id)
