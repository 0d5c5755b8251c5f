"""What GitHub Actions is given: annotations, summaries, the workflow of the bundle, and this repository's own."""

import io
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from copies import GIT
from globs import some
from platform_results import EXERCISE, fits, result
from sources import mistake

pytest.importorskip("yaml", reason="pyyaml is not installed (extra dev)")

import yaml

from grader.catalog import paths
from grader.integrations import bundle
from grader.records.evidence import CodeLine, Evidence, Finding, Place
from grader.records.sanitize import inert
from grader.reports import ci

HOSTILE = (
    "\r\n::add-mask::secret\n##[error]x\n%0A::set-output name=a::b,c\n</pre><script>@everyone | `x` [a](b)\n\n\n# head"
)


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_annotations_hold_no_other_commands(text):
    evidence = Evidence(inert(text), note=inert(text))
    finding = Finding(Place(f"{text}.py", 3), (CodeLine(3, inert(text)),), evidence, inert(text))
    checks = (replace(result().checks[1], message=inert(text), diagnosis=text or None, finding=finding),)
    lines = ci.annotations(result(checks=checks)).splitlines()
    assert len(lines) == 2
    assert re.match(r"::error file=[^:,]*\.py,line=3,title=[^:,]*::", lines[0])
    assert not lines[1].lstrip().startswith(("::", "##"))


def test_annotations_of_files_that_do_not_load_or_are_not_begun():
    broken = result(status="error", message="SyntaxError: x")
    broken = replace(broken, checks=(replace(broken.checks[2]),))
    assert ci.annotations(broken).startswith("::error file=context_vectors.py,line=1,")
    broken = replace(broken, finding=Finding(Place("context_vectors.py", 8), says="SyntaxError: x"))
    assert ci.annotations(broken).startswith("::error file=context_vectors.py,line=8,")
    fresh = ci.annotations(result(started=False, message="not started yet"))
    assert fresh.startswith("::notice ") and "::error" not in fresh


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_the_summary_is_inert(text):
    summary = ci.summary(result(text, message=text))
    block = summary[summary.index("<pre>") + 5 : summary.rindex("</pre>")]
    assert "<" not in block and "\n\n" not in block.replace("\n&nbsp;\n", "\n")
    table = summary[: summary.index("<pre>")]
    assert "<script>" not in table and "[a](b)" not in table
    assert len([line for line in table.splitlines() if line.startswith("| ")]) == 4  # the head and three checks


def test_the_workflows_fit_githubs_syntax():
    files = [paths.module("integrations/templates/grade.yml"), *some((paths.ROOT / ".github/workflows").glob("*.yml"))]
    assert len(files) >= 2
    for path in files:
        known = yaml.safe_load(path.read_text())
        known["on"] = known.pop(True)  # YAML 1.1 takes "on" for a truth value, GitHub does not
        fits(known, "github-workflow")


def test_the_workflow_grades_what_a_push_changed(tmp_path):
    """The step "Grade" of grade.yml, in a repository made from the learner's bundle."""
    with zipfile.ZipFile(io.BytesIO(bundle.build())) as archive:
        archive.extractall(tmp_path)
    root = tmp_path / bundle.TOP
    step = yaml.safe_load((root / ".github/workflows/grade.yml").read_text())["jobs"]["grade"]["steps"][-1]
    environment = {**os.environ, **GIT, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def run(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
        known = environment | more
        return subprocess.run(command, cwd=root, env=known, capture_output=True, text=True, timeout=200, check=False)

    def git(*words: str) -> str:
        done = run("git", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def push(before: str) -> tuple[int, str, str]:
        summary = tmp_path / "summary.md"
        summary.unlink(missing_ok=True)
        done = run("bash", "-e", "-c", step["run"], BEFORE=before, GITHUB_STEP_SUMMARY=str(summary))
        return done.returncode, done.stdout, summary.read_text() if summary.exists() else ""

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "the bundle")
    first = git("rev-parse", "HEAD")
    assert push("0" * 40) == (0, "", "")  # nothing is begun
    mine = root / "exercises/03_context_vectors/context_vectors.py"
    mine.write_text(mistake(EXERCISE.folder, "softmax_over_columns").source)
    git("commit", "-qam", "work")
    code, said, summary = push(first)
    assert code == 1 and "::error file=exercises/03_context_vectors/context_vectors.py,line=" in said
    assert "### 03" in summary and "01_dot" not in said


def test_actions_are_pinned_by_hash_and_by_one_each():
    """A tag can be moved to other code, a hash cannot. dependabot changes them all."""
    text = "\n".join(path.read_text("utf-8") for path in some((paths.ROOT / ".github/workflows").glob("*.yml")))
    used = re.findall(r"uses: (\S+)@(\S+) # (v[\d.]+)", text)
    assert len(used) == text.count("uses: ") > 10
    assert all(re.fullmatch("[0-9a-f]{40}", digest) for _, digest, _ in used)
    assert len({(name, digest, version) for name, digest, version in used}) == len({name for name, _, _ in used})
