"""`make train`, a few steps for real, and the trained model that the project gives out."""

import io
import runpy

import pytest
import torch
from rich.console import Console
from thorough import THOROUGH

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.classroom import versions
from grader.desk import training
from grader.judge.inputs import trained_state
from grader.records import submission

(EXERCISE,) = [exercise for exercise in catalog.exercises() if exercise.trains not in ("", exercise.folder[:2])]
MODEL = catalog.find(EXERCISE.trains)
NUMBER, REFERENCE = EXERCISE.folder[:2], paths.solution(MODEL.folder)
SIZES = (32, 64, 64, 2, 4)
GRADED_PERIODS = (4, 8, 16, 32)
ONE_LAYER = 1.5  # the loss that the lesson says a model of one layer stays above


# The command.


def test_before_the_model_is_passed_the_reference_is_offered_and_a_few_steps_train_it_for_real(said, desk, train_for):
    train_for(12)
    done = said("train", "03", cwd=desk)
    assert done.returncode == 2 and f"make train EX={NUMBER}" in done.stderr  # that has no model, and this one has
    done = said("train", NUMBER, cwd=desk)
    assert done.returncode == 2
    typed, file = f"make train EX={NUMBER} SUBMISSION=", desk / "state.pt"
    assert f"make check EX={EXERCISE.trains}" in done.stderr and typed in done.stderr
    reference = done.stderr.partition(typed)[2].strip()
    done = said("train", NUMBER, "--submission", reference, "--output", file, cwd=desk)
    assert done.returncode == 0, done.stderr
    which, *picture, written = done.stdout.splitlines()
    assert paths.solution(EXERCISE.trains).name in which and "state.pt" in written
    assert float(picture[0].removeprefix("loss of the second half")) < 3.6 and "12/12" in picture[-1]
    state, ours = torch.load(file, weights_only=True), trained_state(EXERCISE.folder)
    assert {name: value.shape for name, value in state.items()} == {name: value.shape for name, value in ours.items()}


def test_the_terminal_shows_bars_scores_and_what_a_head_looks_at(fork_server, train_for):
    train_for(10)
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, height=50)
    state = training.train(EXERCISE, submission.read(REFERENCE), fork_server, 1, console)
    assert not any(name.startswith("layers.1.") for name in state)
    last = screen.getvalue().rpartition("loss of the second half")[2]
    assert "0.3" in last and "10/10" in last and "·" in last
    assert sum(set(line.strip("\x1b[0123456789m")) <= set(training.SHADES) for line in last.splitlines()) >= 16


def test_a_picture_shows_each_head_and_the_leader():
    weights = torch.eye(4).expand(2, 3, 4, 4)
    scores = {"previous": torch.zeros(2, 3), "induction": torch.tensor([[0.0, 0.1, 0.2], [0.3, 1.0, 0.5]])}
    look = {"loss": torch.tensor(1.25), "weights": weights, **scores}
    text = [line.plain for line in training.picture(look)]
    assert text[0].endswith("1.250") and any("head 1.1 looks at" in line for line in text)
    assert text[-4:] == ["██      ", "  ██    ", "    ██  ", "      ██"]
    assert training.BAR * "█" + " 1.00" in next(line for line in text if line.startswith("1.1"))


def test_a_model_that_breaks_is_told_in_the_learners_own_lines(said, tmp_path):
    source = REFERENCE.read_text("utf-8").replace("self.W_value(x)", "self.W_value(x) + self.no_such_thing")
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "no_such_thing" in text)
    mine = tmp_path / "mine.py"
    mine.write_text(source, "utf-8")
    done = said("train", NUMBER, "--submission", mine)
    assert done.returncode == 2 and "no_such_thing" in done.stderr and f"mine.py:{line}" in done.stderr


# The trained model.


def test_one_head_leads_at_every_graded_period():
    names = runpy.run_path(str(paths.solution(EXERCISE.folder)))
    model = names["AttentionOnlyTransformer"](*SIZES)
    model.load_state_dict(trained_state(EXERCISE.folder))
    for period in GRADED_PERIODS:
        ids = names["repeated_tokens"](64, period, SIZES[0], torch.Generator().manual_seed(99))
        with torch.no_grad():
            weights = names["all_attention_weights"](model, ids)
            scores = names["induction_score"](weights, period).mean(dim=1).flatten()
            assert names["second_half_loss"](model, ids) < 0.3
        first, second = scores.sort(descending=True).values[:2]
        assert first - second > 0.1
        assert names["find_induction_head"](model, ids) == (1, 0)


@pytest.mark.skipif(not THOROUGH, reason="a whole training; THOROUGH=1 runs it")
def test_one_layer_trained_alike_stays_above_the_lessons_loss():
    made = runpy.run_path(str(paths.trainer(EXERCISE.folder)))
    torch.manual_seed(made["SEED"])
    model = runpy.run_path(str(REFERENCE))[made["MODEL"]](*SIZES[:3], 1, SIZES[4])
    run = made["Training"](model)
    run.advance(made["STEPS"])
    assert min(run.look(period)["loss"] for period in GRADED_PERIODS[1:]) > ONE_LAYER
    assert f"stays above a loss of {ONE_LAYER}" in paths.lesson(EXERCISE.folder).read_text("utf-8")


def test_the_state_is_a_copy():
    state = trained_state(EXERCISE.folder)
    state["unembedding.weight"].zero_()
    assert trained_state(EXERCISE.folder)["unembedding.weight"].abs().sum() > 0


class Trap:
    def __reduce__(self):
        return (print, ("a trap was sprung",))


@pytest.mark.parametrize("content", [Trap(), [1, 2], {"weight": "text"}, None])
def test_what_is_no_state_dict_of_tensors_is_refused(content, tmp_path, relocate, capsys):
    relocate(tmp_path, "EXERCISES")
    paths.trained(EXERCISE.folder).parent.mkdir(parents=True)
    if content is not None:
        torch.save(content, paths.trained(EXERCISE.folder))
    with pytest.raises(InfrastructureError, match=r"trained\.pt"):
        trained_state(EXERCISE.folder)
    assert "trap" not in capsys.readouterr().out


def test_the_version_of_the_exercise_covers_the_model(monkeypatch):
    version = versions.of_exercise.__wrapped__  # not what it said last time
    before = version(EXERCISE.folder)
    monkeypatch.setattr(paths, "trained", paths.lesson)  # another file
    assert version(EXERCISE.folder) != before
