"""make portfolio: measured with the learner's own code, honest about what is missing, whole in a browser."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import time

import pytest
from browser import browser

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import portfolio, progress
from grader.records import submission
from grader.records.submission import Submission

MEASURED = [one for one in catalog.by_path() if paths.portfolio(one.folder).exists()]
OF_KIND = {portfolio._settings(one)[0]["KIND"]: one for one in MEASURED}
SMALLER = {  # the same measurements of less, for a test
    "memory": ("(512, 1024, 2048, 4096, 8192)", "(512, 1024, 2048)"),
    "speed": ("256, 768, 12", "48, 96, 4"),
    "heads": ("16, 64, 23", "8, 16, 23"),
}


@pytest.fixture
def desk_of(desk):
    """`desk_of("03", …)`: those exercises are passed, with the solutions in the learner's files."""
    for kind, (old, new) in SMALLER.items():
        file = paths.portfolio(OF_KIND[kind].folder)
        text = file.read_text("utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))

    def of(*numbers: str):
        states = {}
        for place, number in enumerate(numbers):
            exercise = catalog.find(number)
            shutil.copy(paths.solution(exercise.folder), paths.stub(exercise.folder))
            file = {"py": {"status": "passed", "points": exercise.max_points}}
            state = {"points": exercise.max_points, "attempts": 1, "first_pass": 1_700_000_000 + place * 86_400}
            states[exercise.folder] = state | {"files": file}
        paths.PROGRESS.write_text(json.dumps({"schema": 2, "exercises": states}))
        return desk

    return of


def own(exercise: catalog.Exercise) -> Submission:
    return submission.read(paths.stub(exercise.folder))


def test_there_is_a_measurement_of_each_kind():
    assert set(OF_KIND) == set(portfolio.KINDS) and len(MEASURED) == 3


def test_memory_of_a_table_grows_with_the_square_and_that_of_tiles_does_not(desk_of, fork_server):
    exercise = OF_KIND["memory"]
    desk_of(exercise.folder[:2])
    seen = portfolio.measure(exercise, own(exercise), fork_server)
    table, tiles = ([float(row[column]) for row in seen.rows] for column in (1, 2))
    assert table[2] > 30 and table[2] > 2.5 * table[1] and tiles[2] < table[2] / 3
    assert [row[0] for row in seen.rows] == ["512", "1,024", "2,048"]
    assert f"{tiles[2]:,.0f} MiB" in seen.result and f"{table[2]:,.0f} MiB" in seen.result
    ends = [line.at for line in seen.chart.lines]
    assert ends[0][0] == ends[1][0] and ends[0][1] < ends[1][1]  # the table is higher, so nearer to the top


def test_it_is_the_learners_own_code_that_is_measured(desk_of, fork_server):
    exercise = OF_KIND["memory"]
    desk_of(exercise.folder[:2])
    by_table = (
        "\n\ndef flash_attention(q, k, v, block_size=64, causal=False):\n    return torch.softmax(q @ k.mT, -1) @ v\n"
    )
    honest = own(exercise)
    seen = portfolio.measure(exercise, Submission(honest.source + by_table, honest.filename), fork_server)
    assert float(seen.rows[2][2]) > 0.6 * float(seen.rows[2][1])
    broken = Submission(f"{honest.source}\n\ndef flash_attention(*a, **k):\n    raise KeyError('x')\n", "mine.py")
    with pytest.raises(WrongUse, match="KeyError"):
        portfolio.measure(exercise, broken, fork_server)


def test_tokens_a_second_without_a_cache_and_with_it(desk_of, fork_server):
    exercise = OF_KIND["speed"]
    desk_of(exercise.folder[:2])
    seen = portfolio.measure(exercise, own(exercise), fork_server)
    slow, fast = (float(row[1].replace(",", "")) for row in seen.rows)
    assert slow > 0 and fast > 0 and max(seen.shares) == 1.0
    waits = "\n\nimport time\n_forward = CachedAttention.forward\n"
    waits += "CachedAttention.forward = lambda self, x, cache=None: (time.sleep(0.05), _forward(self, x, cache))[1]\n"
    late = portfolio.measure(exercise, Submission(own(exercise).source + waits, "mine.py"), fork_server)
    assert all(float(row[1].replace(",", "")) <= 20 for row in late.rows)  # the clock is outside


def test_the_stripe_and_the_ablations_of_a_model_of_ones_own(desk_of, fork_server):
    exercise = OF_KIND["heads"]
    desk_of(exercise.folder[:2])
    with pytest.raises(WrongUse, match="make train EX=23"):
        portfolio.measure(exercise, own(exercise), fork_server)
    file = paths.own_model(exercise.folder)
    file.write_bytes(b"nothing of the kind")
    with pytest.raises(WrongUse, match="cannot be read"):
        portfolio.measure(exercise, own(exercise), fork_server)
    shutil.copy(paths.trained(exercise.folder), file)
    seen = portfolio.measure(exercise, own(exercise), fork_server)
    assert seen.result.startswith("Head 1.0 of the model that I trained completes the pattern")  # as the lesson says
    assert len(seen.rows) == 8 and len(seen.stripe) == 16
    below = [seen.stripe[token][token - 7] for token in range(8, 16)]
    assert sum(below) / len(below) > 0.8  # the stripe
    assert hashlib.sha256(file.read_bytes()).hexdigest()[:16] in seen.says


def test_what_is_missing_is_said(desk_of, fork_server):
    desk_of("03", OF_KIND["heads"].folder[:2])
    paths.stub(catalog.find("03").folder).write_text("x = 1\n")  # graded never: nothing is known of it
    said: list[str] = []
    made = portfolio.collect(fork_server, said.append)
    missing = "\n".join(made.missing)
    for kind in ("memory", "speed"):
        exercise = OF_KIND[kind]
        assert f"{exercise.folder[:2]} {exercise.title}: not measured, because it is not passed yet" in missing
    assert "There is no model of my own yet (make train EX=23 trains one)" in missing
    assert "No GPU was used" in missing and "Proof: these verdicts were given on this machine" in missing
    assert "06 Scaled dot-product attention" in missing and "03 Context vectors" not in missing
    numbers = re.findall(r"\b\d\d(?= [A-Z])", next(line for line in made.missing if line.startswith("Not passed")))
    assert numbers == sorted(numbers) and len(numbers) == made.count - 2
    assert made.measured == [] and made.passed == 2 and len(said) == 1
    row = next(file for file in made.files if file.name.startswith("03"))
    assert row.fingerprint == hashlib.sha256(b"x = 1\n").hexdigest()[:16] and row.state == "not known"


def test_a_file_that_was_changed_after_its_pass_is_said_to_be(desk_of, fork_server, said):
    desk_of("03")
    said("check", "03")
    (row,) = portfolio.collect(fork_server, str).files
    assert row.state == "as it passed" and row.seed.isdecimal()
    file = paths.stub(catalog.find("03").folder)
    later = time.time() + 5
    file.write_text(file.read_text("utf-8") + "# more\n")
    os.utime(file, (later, later))
    (row,) = portfolio.collect(fork_server, str).files
    assert row.state == "changed since it passed"


def test_a_completed_path_is_a_part_of_the_page(desk_of, fork_server):
    seeds = [one.folder[:2] for one in catalog.by_path() if one.path.name == "the seeds"]
    desk_of(*seeds)
    made = portfolio.collect(fork_server, str)
    (path,) = made.done
    assert path.name == "the seeds" and len(path.abilities) == len(seeds) and path.day == made.last
    page, section = portfolio.page(made), portfolio.markdown(made, "portfolio.html")
    assert path.after in page and "scaled_dot_product_attention</code>" in page  # where well-known code has it
    assert "`" not in page.partition("<body")[2]
    assert f"- **the seeds** ({path.day}): I can {path.after}." in section
    assert f"{len(seeds)} of {len(catalog.exercises())} exercises" in section


def test_the_badge_is_of_the_workflow_of_this_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "DESK", tmp_path)
    assert portfolio._badge() == ""
    workflow = tmp_path / portfolio.WORKFLOW
    workflow.parent.mkdir(parents=True)
    workflow.write_bytes(paths.module("integrations/templates/grade.yml").read_bytes())
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert portfolio._badge() == ""
    for address in ("git@github.com:ada/kata.git", "https://github.com/ada/kata"):
        subprocess.run(["git", "-C", str(tmp_path), "config", "remote.origin.url", address], check=True)
        assert portfolio._badge() == "https://github.com/ada/kata/actions/workflows/grade.yml"
    day = "2026-01-01"
    made = portfolio.Portfolio(day, 1, 2, "3", day, day, machine=[("a", "b")], badge=portfolio._badge())
    section = portfolio.markdown(made, "p.html")
    assert (
        "[![graded](https://github.com/ada/kata/actions/workflows/grade.yml/badge.svg)](https://github.com/" in section
    )
    assert "<img" not in portfolio.page(made) and made.badge in portfolio.page(made)


def test_the_command_and_its_page_in_a_browser(desk_of, said, tmp_path):
    desk = desk_of()
    refused = said("portfolio", cwd=desk)
    assert refused.returncode == 2 and "Pass an exercise first: make start" in refused.stderr
    desk_of(*(one.folder[:2] for one in MEASURED), "00")
    shutil.copy(paths.trained(OF_KIND["heads"].folder), paths.own_model(OF_KIND["heads"].folder))
    done = said("portfolio", cwd=desk)
    assert done.returncode == 0 and "portfolio.html is your page" in done.stdout, done.stderr
    assert done.stderr.count("measuring") == 3
    assert (desk / "portfolio.md").read_text("utf-8").startswith("## Attention, by hand\n")
    page = desk / "portfolio.html"
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", page.read_text("utf-8"))
    troubles: list[str] = []

    def hear(tab) -> None:
        tab.on("console", lambda message: troubles.append(message.text))
        tab.on("request", lambda request: troubles.append(request.url) if request.url[:5] != "file:" else None)

    with browser() as chromium:
        for width in (320, 768, 1400):
            for scheme in ("light", "dark"):
                context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                tab = context.new_page()
                hear(tab)
                tab.goto(page.as_uri())
                assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, scheme)
                assert tab.locator("svg.chart").is_visible() and tab.locator("svg.stripe rect").count() > 20
                assert tab.locator("article.measured").count() == 3 and troubles == []
                context.close()


def test_progress_is_as_it_was(desk_of, fork_server):
    """Measuring is no grading."""
    desk_of("03")
    before = progress.load()
    portfolio.collect(fork_server, str)
    assert progress.load() == before and not paths.LAST_RESULTS.exists()


def test_a_model_that_the_learner_trains_is_kept_for_it(desk_of, said):
    exercise = OF_KIND["heads"]
    desk = desk_of(catalog.find(exercise.trains).folder[:2])
    done = said("train", exercise.folder[:2], "--steps", 2, cwd=desk)
    assert done.returncode == 0 and "mine.pt holds the trained numbers" in done.stdout, done.stderr
    assert paths.own_model(exercise.folder).exists()
    other = paths.solution(catalog.find(exercise.trains).folder)
    paths.own_model(exercise.folder).unlink()
    said("train", exercise.folder[:2], "--steps", 2, "--submission", other, cwd=desk)
    assert not paths.own_model(exercise.folder).exists()  # not the learner's own
