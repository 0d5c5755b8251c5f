"""The proofs of `make train`: the learner's own code is trained for some seconds, beside what goes wrong without it."""

import io
import os
import re
import signal

import pytest
import torch
from rich.console import Console
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import paths
from grader.desk import ending, progress, training
from grader.records import submission

PROOFS = [exercise for exercise in catalog.exercises() if exercise.trains == exercise.folder[:2]]
LEARNT, LOST = 95, 60  # percent
STYLES = [(exercise, path) for exercise in PROOFS for path in paths.styles(exercise.folder)]


def shown(exercise, path, fork_server) -> str:
    """What a pipe shows of a training."""
    file = io.StringIO()
    console = Console(file=file, width=200, force_terminal=False)
    training.train(exercise, submission.read(path), fork_server, console=console)
    return file.getvalue()


def rows(text: str, exercise) -> dict[str, tuple[float, list[int]]]:
    """The final table: by run its loss and its percents."""
    found = {}
    for run in training._settings(exercise)["RUNS"]:
        (row,) = re.findall(rf"^{re.escape(run)}  +([\d.]+)((?: +\d+)+)$", text, re.M)
        found[run] = float(row[0]), [int(number) for number in row[1].split()]
    return found


@pytest.mark.parametrize("number", sample(["11", "13"], 1))
def test_the_class_learns_to_write_backwards_and_its_twin_without_a_mask_does_not(number, fork_server, train_for):
    exercise = catalog.find(number)
    if not THOROUGH:  # here and below: with fewer steps than the lesson's the same is learnt
        train_for(60)
    text = shown(exercise, paths.solution(exercise.folder), fork_server)
    mine, twin = rows(text, exercise).values()
    assert mine[0] < 0.01 and twin[0] < 0.01  # the loss tells nothing
    assert min(mine[1]) > LEARNT and sum(twin[1]) / len(twin[1]) < LOST
    picture = [line for line in text.splitlines() if line and set(line) <= set(training.SHADES)]
    darkest = [max(range(0, len(line), 2), key=lambda at: training.SHADES.index(line[at])) // 2 for line in picture]
    assert darkest == [7, 6, 5, 4, 3, 2, 1, 0]  # the anti-diagonal
    assert training._settings(exercise)["WHY"][:40] in text


@pytest.mark.parametrize("number", sample(["13", "11"], 1))
def test_a_leaking_file_learns_what_its_twin_does(number, fork_server, tmp_path, train_for):
    """That is the same class without its mask, so the test above says what both can never write."""
    exercise = catalog.find(number)
    source = paths.solution(exercise.folder).read_text("utf-8")
    leaking = tmp_path / "leaking.py"
    leaking.write_text(re.sub(r"scores = scores\.masked_fill\(.*\)", "pass", source), "utf-8")
    assert leaking.read_text("utf-8") != source
    train_for(10)
    mine, twin = rows(shown(exercise, leaking, fork_server), exercise).values()
    assert mine == twin


def test_a_cache_gives_the_same_answers_and_positions_from_0_other_ones(fork_server, train_for):
    exercise = catalog.find("20")
    train_for(40)
    without, cached, from_0 = rows(shown(exercise, paths.solution(exercise.folder), fork_server), exercise).values()
    assert without == cached and min(cached[1]) > LEARNT and max(from_0[1]) < LOST


def test_a_window_loses_what_is_further_back_and_two_layers_reach_it(fork_server, train_for):
    exercise = catalog.find("22")
    if not THOROUGH:
        train_for(80)
    text = shown(exercise, paths.solution(exercise.folder), fork_server)
    everything, short, stacked = (percents for _, percents in rows(text, exercise).values())
    window = training._settings(exercise)["WINDOW"]
    assert min(everything) > LEARNT and min(short[:window]) > LEARNT and max(short[window:]) < 30
    assert min(stacked[: window + 2]) > 85
    if THOROUGH:  # half of the lesson's steps reach two places less
        assert min(stacked[: window + 3]) > 85 and min(stacked) > LOST


@pytest.mark.parametrize("exercise, path", sample(STYLES, 1), ids=lambda part: getattr(part, "stem", None))
def test_every_right_style_can_be_trained(exercise, path, fork_server, train_for):
    train_for(1)
    assert rows(shown(exercise, path, fork_server), exercise)


def test_ctrl_c_keeps_what_is_there():
    class Interrupted:
        steps = 0

        def advance(self, steps):
            self.steps += steps
            if self.steps == 20:
                os.kill(os.getpid(), signal.SIGINT)

        def look(self):
            return {"loss": torch.zeros(1), "right": torch.full((1, 2), self.steps / 100), "weights": torch.eye(2)}

    before, file = signal.getsignal(signal.SIGINT), io.StringIO()
    plan = training.Plan(("mine",), ("a", "b"), "task", "picture", "why it is so")
    done = training.train_beside(Interrupted(), plan, 100, Console(file=file, width=80))
    assert done == 20 and signal.getsignal(signal.SIGINT) is before
    assert "mine  0.0000  20  20" in file.getvalue() and "Stopped after 20 of 100" in file.getvalue()
    assert "why it is so" not in file.getvalue()


def test_a_forged_answer_is_refused():
    class Forged:
        def look(self):
            return {"loss": torch.zeros(2), "right": torch.zeros(1, 2), "weights": torch.eye(2)}

    plan = training.Plan(("mine",), ("a", "b"), "", "", "")
    with pytest.raises(training.Mismatch, match="another form"):
        training.train_beside(Forged(), plan, 1, Console(file=io.StringIO()))


def test_the_command_says_what_is_missing_and_has_no_use_and_what_is_not_kept(said, desk, train_for):
    done = said("train", "13", cwd=desk)
    assert done.returncode == 2 and "make check EX=13" in done.stderr and "make train EX=13 SUBMISSION=" in done.stderr
    reference = paths.solution(catalog.find("13").folder)
    done = said("train", "13", "--submission", reference, "--layers", "2", cwd=desk)
    assert done.returncode == 2 and "LAYERS" in done.stderr
    done = said("train", "13", "--submission", reference, "--output", desk / "state.pt", cwd=desk)
    assert done.returncode == 2 and "OUTPUT" in done.stderr and not (desk / "state.pt").exists()
    folder = catalog.find("13").folder
    paths.stub(folder).write_text(paths.solution(folder).read_text("utf-8"), "utf-8")
    progress.change(folder, lambda state: setattr(state, "first_pass", 1.0))
    train_for(1)
    done = said("train", "13", cwd=desk)
    assert "its twin without a mask" in done.stdout and "holds the trained numbers" not in done.stdout


def test_the_ending_offers_it():
    exercise = catalog.find("13")
    passed = {exercise.folder: progress.State(first_pass=1.0)}
    assert any("make train EX=13" in line for line in ending.lines(exercise.folder, passed))
    assert not any("make train" in line for line in ending.lines(catalog.find("12").folder, passed))
