"""No command changes a file that a learner has changed, unless a copy of it is kept."""

import subprocess

import pytest
from copies import GIT

from grader import catalog
from grader.catalog import paths
from grader.desk import checkout, progress
from grader.integrations import bundle

OWN = "# my own words, which exist nowhere else\n"
EXERCISE = catalog.find("03")
COMMANDS = (
    ("solution", "03", "--force"),
    ("notebook", "03"),
    ("check", "03"),
    ("hint", "03"),
    ("try", "03"),
    ("train", "11", "--submission", "exercises/11_causal_attention/causal_attention.py"),
    ("reset", "03"),
)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder that `kata init` made, with a git that knows its user and reads no other settings."""
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)
    mine = tmp_path / "mine"
    bundle.make_folder(mine)
    return mine


def with_own_words(folder) -> set[str]:
    """The files that hold the learner's words."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and OWN.encode() in path.read_bytes()
    }


def test_what_a_learner_wrote_stays_somewhere(said, desk, train_for):
    train_for(1)
    for folder in {catalog.find(words[1]).folder for words in COMMANDS}:
        for path in (paths.stub(folder), paths.lesson(folder), paths.hints(folder)):
            path.write_text(path.read_text("utf-8") + OWN, "utf-8")
    stub = str(paths.stub(EXERCISE.folder).relative_to(paths.EXERCISES))
    for words in COMMANDS:
        before = with_own_words(paths.EXERCISES)
        said(*words, cwd=desk)
        after = with_own_words(paths.EXERCISES)
        assert len(after) >= len(before), words
        assert before - after <= ({stub} if words[0] == "reset" else set()), words


def test_an_update_keeps_what_both_sides_changed(mine, relocate):
    """In a folder that `kata init` made. tests/desk/test_update.py has a clone."""
    relocate(mine, "DESK")
    files = [file(EXERCISE.folder) for file in (paths.stub, paths.lesson, paths.hints)]
    changed = [mine / file.relative_to(paths.PROJECT) for file in files]
    for path in changed:
        path.write_text(path.read_text("utf-8") + OWN, "utf-8")
    before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file() and ".git" not in path.parts}
    newer = {name: b"# newer\n" + content for name, content in bundle.files_of_folder().items()}
    done = checkout.update(newer, "9.0")
    kept = {path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    assert done.changes == len(newer) and len(done.merged) == len(changed)
    for path in changed:
        assert before[path] in kept and OWN in path.read_text("utf-8") and "# newer" in path.read_text("utf-8")


def test_an_update_carries_over_what_has_another_number_now(mine, relocate):
    """A folder of exercise 16 that is 19 now: the file, committed or not, what lies beside it, progress and verdict."""
    relocate(mine, "DESK", "PROGRESS", "LAST_RESULTS")
    number = {"03_context_vectors": "19_context_vectors", "04_token_embeddings": "03_token_embeddings"}
    files = {f"exercises/{old}/{old[3:]}.py": f"exercises/{new}/{new[3:]}.py" for old, new in number.items()}
    for committed, file in enumerate(files):
        (mine / file).write_text((mine / file).read_text("utf-8") + OWN, "utf-8")
        if not committed:
            subprocess.run(["git", "commit", "-qam", "mine"], cwd=mine, check=True)
    (mine / "exercises/04_token_embeddings/notes.txt").write_text(OWN, "utf-8")
    progress.change("03_context_vectors", lambda state: setattr(state, "points", 7.0))
    (mine / ".kata-results").mkdir()
    (mine / ".kata-results/03_context_vectors.json").write_text('{"exercise": "03_context_vectors"}', "utf-8")
    newer = {}
    for name, content in bundle.files_of_folder().items():
        folder = name.split("/")[1] if name.startswith("exercises/") else ""
        newer[name.replace(folder, number[folder]) if folder in number else name] = content.replace(b"EX=03", b"EX=19")
    checkout.update(newer, "9.0")
    for old, new in files.items():
        assert OWN in (mine / new).read_text("utf-8") and not (mine / old).parent.exists()
    assert (mine / "exercises/03_token_embeddings/notes.txt").read_text("utf-8") == OWN
    assert progress.state("19_context_vectors").points == 7.0 and "03_context_vectors" not in progress.load()
    assert "19_context_vectors" in (mine / ".kata-results/19_context_vectors.json").read_text("utf-8")
