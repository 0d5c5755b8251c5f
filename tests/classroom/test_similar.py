"""Copies are listed however they are dressed up; independent right answers are not."""

import ast
import csv
import json
import random
from pathlib import Path

import pytest
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import mistakes, paths
from grader.classroom import similar
from grader.classroom.handins import HandIn, Student
from grader.classroom.similar import GRAM, WINDOW, agreeing, common_fingerprints, demanded, fingerprints

FOLDERS = sample([exercise.folder for exercise in catalog.exercises()], 12)


def styles(folder: str) -> dict[str, str]:
    """Right answers by people who did not know of one another."""
    return {path.stem: path.read_text() for path in paths.styles(folder)}


def hand_in(root: Path, answers: dict[str, dict[str, str]]) -> list[HandIn]:
    """answers: exercise → student → source."""
    found = []
    for folder, sources in answers.items():
        for student, source in sources.items():
            path = root / student / folder / "answer.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
            found.append(HandIn(Student(student), folder, str(path)))
    return found


def disguised(source: str, seed: int = 0) -> str:
    """A copy with other names, another order of the functions, no comments or docstrings, and other formatting."""
    tree = ast.parse(source)
    draw = random.Random(seed)
    known = {}

    class Renamed(ast.NodeTransformer):
        def visit_FunctionDef(self, node):
            local = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            known.update({name: f"v{draw.randrange(10**6)}" for name in local})
            node.returns = None
            self.generic_visit(node)
            return node

        def visit_Name(self, node):
            return ast.copy_location(ast.Name(known.get(node.id, node.id), node.ctx), node)

        def visit_ClassDef(self, node):
            self.generic_visit(node)
            draw.shuffle(node.body)
            return node

    tree = Renamed().visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body[0] = ast.parse("'another docstring'").body[0]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    draw.shuffle(functions)
    rest = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    tree.body = [*rest[:2], *functions, *rest[2:]]
    return "# all my own work\n" + ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize("folder", sample(FOLDERS, 4))
def test_independent_right_answers_are_not_listed(tmp_path, folder):
    answers = styles(folder) | {"solution": paths.solution(folder).read_text()}
    wrong = {mistake.name: mistake.source for mistake in sample(mistakes.mistakes(folder), 40)}
    assert not similar.pairs(hand_in(tmp_path, {folder: answers | wrong}))


def test_a_friend_of_one_style_is_not_listed(tmp_path):
    """Two who in every exercise give the two most similar of the independent answers are not listed either."""
    answers = {}
    for folder in FOLDERS:
        ranked = sorted(agreeing_of(folder), key=lambda row: -row[2])
        names = list(styles(folder))
        i, j = ranked[0][:2] if ranked else (0, -1)
        answers[folder] = {"ada": styles(folder)[names[i]], "bob": styles(folder)[names[j]]}
    assert not similar.pairs(hand_in(tmp_path, answers))


def agreeing_of(folder: str) -> list:
    return list(agreeing([frozenset(fingerprints(s)) for s in styles(folder).values()], common_fingerprints(folder)))


def of_ones_own(folder: str) -> dict[str, int]:
    """Style → how many fingerprints are nobody else's: a short exercise has answers with hardly any."""
    return {
        name: len(set(fingerprints(source)) - common_fingerprints(folder)) for name, source in styles(folder).items()
    }


@pytest.fixture(scope="module")
def long_enough() -> dict[str, list[str]]:
    """Folder → styles that are not nearly the solution itself, for a class of 30."""
    least = demanded(30) * 1.1
    found = {folder: [name for name, own in of_ones_own(folder).items() if own >= least] for folder in FOLDERS}
    return {folder: names for folder, names in found.items() if names}


def test_there_are_answers_long_enough_to_give_a_copy_away(long_enough):
    assert len(long_enough) > len(FOLDERS) / 3 and sum(map(len, long_enough.values())) > len(FOLDERS)


def test_a_disguised_copy_is_listed(tmp_path, long_enough):
    """In a class of 30."""
    for folder, names in sample(long_enough.items(), 5):
        others = styles(folder)
        for name in names:
            source = others[name]
            copy = disguised(source)
            assert copy != source
            crowd = {f"filler{i}": f"x = {i}\n" for i in range(30 - len(others) - 1)}
            listed = similar.pairs(hand_in(tmp_path / folder / name, {folder: others | crowd | {"copy": copy}}))
            found = {(pair.student_a.id, pair.student_b.id) for pair in listed}
            assert found == {tuple(sorted((name, "copy")))}, f"{folder}: {name}"
            assert listed[0].score > 0.9 and listed[0].evidence, f"{folder}: {name}"


def test_evidence_adds_up_over_exercises(tmp_path):
    """Short answers say too little alone, and enough together. In a class of 30."""
    crowd = {f"filler{number}": "x = 1\n" for number in range(28)}
    answers: dict[str, dict[str, str]] = {}
    for folder in FOLDERS:
        own = {name: count for name, count in of_ones_own(folder).items() if count >= 3}
        short = min(own, key=own.get, default=None)
        if short and own[short] < demanded(30):
            source = styles(folder)[short]
            answers[folder] = {"ada": source, "bob": disguised(source), **crowd}
    assert len(answers) >= (4 if THOROUGH else 2)
    for folder in answers:
        assert not similar.pairs(hand_in(tmp_path / folder, {folder: answers[folder]}))
    listed = similar.pairs(hand_in(tmp_path / "all", answers))
    assert {pair.exercise for pair in listed} == set(answers)
    assert {(pair.student_a.id, pair.student_b.id) for pair in listed} == {("ada", "bob")}
    assert all(pair.total == pytest.approx(sum(pair.weight for pair in listed), abs=0.5) for pair in listed)


def test_natural_answers_with_small_choices_of_ones_own(tmp_path):
    """200 who write what comes naturally, each with own habits, and one pair that copied something unusual."""
    draw = random.Random(7)
    answers = {f"s{number:03}": natural(draw) for number in range(200)}
    unusual = styles("03_context_vectors")["loops"]
    answers |= {"thief": disguised(unusual), "owner": unusual}
    listed = similar.pairs(hand_in(tmp_path, {"03_context_vectors": answers}))
    assert [(pair.student_a.id, pair.student_b.id) for pair in listed] == [("owner", "thief")]


def natural(draw: random.Random) -> str:
    """Exercise 03 as a learner writes it: the same thought in one of many spellings."""
    turned = draw.choice(["inputs.T", "inputs.transpose(0, 1)", "inputs.t()", "torch.transpose(inputs, 0, 1)"])
    product = draw.choice(["{} @ {}", "torch.matmul({}, {})", "torch.mm({}, {})"])
    dim = draw.choice(["dim=-1", "-1"])
    softmax = draw.choice(["torch.softmax({}, {})", "({}).softmax({})", "F.softmax({}, {})"])
    name = draw.choice(["scores", "attn_scores", "s", "omega"])

    def returned(value: str) -> str:
        return draw.choice([f"    return {value}\n", f"    result = {value}\n    return result\n"])

    scores = product.format("inputs", turned)
    weights = draw.choice(
        [
            returned(softmax.format(scores, dim)),
            f"    {name} = {scores}\n" + returned(softmax.format(name, dim)),
            f"    {name} = {scores}\n    weights = {softmax.format(name, dim)}\n    return weights\n",
        ]
    )
    one = draw.choice(
        [
            returned("attention_weights(inputs)[query_index] @ inputs"),
            f"    q = inputs[query_index]\n    w = {softmax.format('inputs @ q', dim)}\n    return w @ inputs\n",
            "    weights = attention_weights(inputs)\n" + returned("weights[query_index] @ inputs"),
            returned("context_vectors(inputs)[query_index]"),
        ]
    )
    every = draw.choice(
        [
            returned("attention_weights(inputs) @ inputs"),
            "    weights = attention_weights(inputs)\n" + returned(product.format("weights", "inputs")),
        ]
    )
    return (
        f"import torch\nimport torch.nn.functional as F\n\n\ndef attention_weights(inputs):\n{weights}\n\n"
        f"def context_vector(inputs, query_index):\n{one}\n\ndef context_vectors(inputs):\n{every}"
    )


def test_winnowing_finds_every_long_agreement():
    """Its guarantee: GRAM + WINDOW - 1 equal tokens in a row share a fingerprint, wherever they stand."""
    shared = "    y = a * b + c - d\n    z = y / a - b * c\n"
    draw = random.Random(1)
    for _ in range(20):
        one, two = (
            "def f(a, b, c, d):\n" + f"    q = a if b else {n}\n" * n + shared + "    return z\n"
            for n in draw.sample(range(6), 2)
        )
        assert set(fingerprints(one)) & set(fingerprints(two))
    assert not set(fingerprints("x = 1")) and GRAM + WINDOW > 8


def test_a_source_that_is_no_python_or_endlessly_deep():
    assert fingerprints("def f(:") == {}
    assert fingerprints("x = " + "(" * 5000 + ")" * 5000) == {}
    assert fingerprints("x = " + "-" * 20000 + "1") == {} or True


def test_one_file_of_a_group_is_no_pair(tmp_path):
    (tmp_path / "a.py").write_text(styles("03_context_vectors")["loops"])
    both = [HandIn(Student(name), "03_context_vectors", str(tmp_path / "a.py")) for name in ("ada", "bob")]
    assert not similar.pairs(both)


def test_a_large_ring_does_not_flood(tmp_path):
    source = styles("03_context_vectors")["loops"]
    others = {f"o{n}": f"x = {n}\n" for n in range(300)}
    ring = {f"r{n:02}": disguised(source, n) for n in range(20)}
    listed = similar.pairs(hand_in(tmp_path, {"03_context_vectors": others | ring}))
    assert len(listed) == 19 and {pair.student_a.id for pair in listed} == {"r00"}


def test_the_command_lists_clusters_first(tmp_path, said):
    """Three of one cluster, two of another one: each under its own heading, whatever the order of the pairs."""
    one, other = (styles("13_multi_head_attention")[name] for name in ("loops", "einsum"))
    ring = {f"r{number}": disguised(one, number) for number in range(3)}
    hand_in(tmp_path, {"13_multi_head_attention": ring | {"x1": other, "x2": disguised(other)}})
    for path in tmp_path.rglob("answer.py"):
        path.rename(path.with_name("multi_head_attention.py"))
    done = said("similar", tmp_path)
    heads = [line for line in done.stdout.splitlines() if line.startswith("Cluster ")]
    assert sorted(line.partition(", ")[2] for line in heads) == ["2 students: x1, x2", "3 students: r0, r1, r2"]
    for block in done.stdout.split("Cluster ")[1:]:
        assert ("r0 and r1" in block) == ("3 students" in block) != ("x1 and x2" in block)
    listed = json.loads(said("similar", tmp_path, "--format", "json").stdout)
    assert sorted(listed["clusters"]) == [["r0", "r1", "r2"], ["x1", "x2"]]


def test_the_command(tmp_path, said):
    source = styles("13_multi_head_attention")["loops"]
    hand_in(tmp_path, {"13_multi_head_attention": {"ada": source, "bob": disguised(source), "c\x1b[2Jyd": "x = 1\n"}})
    for path in tmp_path.rglob("answer.py"):
        path.rename(path.with_name("multi_head_attention.py"))
    done = said("similar", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ada" in done.stdout and "bob" in done.stdout and "lines" in done.stdout and "\x1b" not in done.stdout
    listed = json.loads(said("similar", tmp_path, "13", "--format", "json").stdout)
    assert listed["schema"] == 1 and listed["pairs"][0]["students"] == ["ada", "bob"]
    assert listed["pairs"][0]["evidence"][0]["a"][0] >= 1
    assert said("similar", tmp_path, "99").returncode == 2
    assert said("similar", tmp_path / "absent").returncode == 2


def test_nobody_agrees_with_themselves(tmp_path, said):
    """Moodle calls a person by another number in each assignment, and the whole folder is handed in each time."""
    folder, source = "13_multi_head_attention", styles("13_multi_head_attention")["loops"]
    for entry in ("CS1-13 Multi-head attention-1/Ada Li_11", "CS1-03 Context vectors-2/Ada Li_21"):
        path = tmp_path / f"{entry}_assignsubmission_file_" / folder / "multi_head_attention.py"
        path.parent.mkdir(parents=True)
        path.write_text(source)
    done = said("similar", tmp_path)
    assert "Ada" not in done.stdout and "1 student, 2 files" in done.stderr, done.stdout


def test_the_command_with_pseudonyms(tmp_path, said):
    source = styles("13_multi_head_attention")["loops"]
    hand_in(tmp_path / "in", {"13_multi_head_attention": {"ada.lovelace": source, "grace.hopper": disguised(source)}})
    for path in tmp_path.rglob("answer.py"):
        path.rename(path.with_name("multi_head_attention.py"))
    key = tmp_path / "key.csv"
    done = said("similar", tmp_path / "in", "--format", "json", "--anonymous", key)
    assert done.returncode == 0, done.stderr
    assert "lovelace" not in done.stdout and "hopper" not in done.stdout
    with key.open() as file:
        names = {row["pseudonym"]: row["student"] for row in csv.DictReader(file)}
    (pair,) = json.loads(done.stdout)["pairs"]
    assert {names[name] for name in pair["students"]} == {"ada.lovelace", "grace.hopper"}
    assert key.stat().st_mode & 0o077 == 0
    again = said("similar", tmp_path / "in", "--anonymous", key)
    assert all(name in again.stdout for name in names) and "lovelace" not in again.stdout
