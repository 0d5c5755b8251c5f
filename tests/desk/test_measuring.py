"""`make experiment EX=28 ARGS=attentions`: the table "which attention when", at tiny sizes. No time is asserted."""

import math
import runpy
import shutil

import pytest

from grader import catalog
from grader.catalog import paths
from grader.desk import experiment

FOLDER = catalog.find("28").folder


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(paths.lesson(FOLDER).with_name("measure_attentions.py")))


def test_each_way_is_measured_in_a_process_of_its_own_and_named(script, capfd):
    assert experiment.measure(catalog.find(FOLDER), ["attentions", "--most", "16"]) == 0
    printed, rows = capfd.readouterr().out, [script["Row"](way, "reference") for way in script["WAYS"]]
    assert [row.way.exercise for row in rows] == ["13", "21", "22", "23", "26", "27", "28", "31"]
    assert all(printed.count(script["named"](row)) == 4 and row.way.loses in printed for row in rows)
    assert "* the reference" in printed and max(map(len, printed.splitlines())) <= 79
    assert "would take" not in printed and "ended early" not in printed


def test_what_is_kept_is_what_each_of_them_keeps(script):
    kept = {way.exercise: [way.kept(tokens) for tokens in (1024, 32_768)] for way in script["WAYS"]}
    for number in ("13", "21", "31", "23", "28"):
        assert kept[number][1] == 32 * kept[number][0]
    assert all(kept[number][0] == kept[number][1] for number in ("22", "27", "26"))
    assert kept["28"][0] > kept["13"][0] == 2 * kept["21"][0] > kept["23"][0] > kept["22"][0] > kept["27"][0]


def test_the_exponent_is_that_of_the_whole_call_where_enough_is_known(script):
    for power in (1, 1.5, 2, 3):
        assert script["exponent"]({size: size**power / size for size in (8, 16, 32, 64)}) == pytest.approx(power)
    assert math.isnan(script["exponent"]({8: 1.0})) and math.isnan(script["exponent"]({8: 0.0, 16: 0.0}))


def test_what_would_take_too_much_is_left_out_and_named(script):
    too_much, Row, way = script["too_much"], script["Row"], script["WAYS"][0]
    squared = {1024: (1.0, 500.0), 2048: (4.0, 2000.0)}
    assert too_much(squared, 4096, 60, 9000) == ""
    assert too_much(squared, 4096, 60, 7000) == "would take about 7.8 GiB of memory"
    assert too_much(squared, 8192, 60, 1e9) == "would take about 64 s"
    assert too_much({1024: (1e9, 1e9)}, 2048, 60, 7000) == "", "one size says nothing of the growth"
    row = Row(way, "yours", {1024: 1.0}, {1024: 1.0}, {2048: "would take about 64 s"})
    printed = script["table"]([row], (1024, 2048))
    assert printed[-1] == "– 13 at 2,048 would take about 64 s" and "–" in printed[1] and "*" not in "".join(printed)


@pytest.fixture
def work(tmp_path):
    """A learner's exercises: 13 right, 22 a stub, 31 twice as large as it should be, 21 not there."""
    for number in ("13", "22", "31"):
        folder = catalog.find(number).folder
        (tmp_path / folder).mkdir()
        source = paths.stub(folder) if number == "22" else paths.solution(folder)
        shutil.copy(source, tmp_path / folder / f"{paths.slug(folder)}.py")
    file = next(tmp_path.glob("31_*/*.py"))
    doubled = "\nright = flash_attention\ndef flash_attention(*given):\n    return 2 * right(*given)\n"
    file.write_text(file.read_text("utf-8") + doubled, "utf-8")
    return tmp_path


def test_your_own_is_measured_where_it_is_right(script, work):
    for number, whose in (("13", "yours"), ("21", "reference"), ("22", "reference"), ("31", "reference")):
        way = next(way for way in script["WAYS"] if way.exercise == number)
        module, said = script["chosen_module"](way, work)
        assert said == whose and (str(work) in module.__file__) == (whose == "yours")


def test_without_a_reference_what_works_is_yours_and_the_rest_is_not_written_yet(script, work, tmp_path_factory):
    nowhere = tmp_path_factory.mktemp("nowhere")
    said = {way.exercise: script["chosen_module"](way, work, nowhere) for way in script["WAYS"]}
    assert said["13"][1] == said["31"][1] == "yours" and said["22"] == said["21"] == (None, "")
    row = script["measured"](script["WAYS"][1], None, "", (16, 32), 60, 3000)
    assert not row.ms and row.why == {16: "is not written yet", 32: "is not written yet"}


def test_make_experiment_says_which_scripts_there_are(said):
    done = said("experiment", "28", "--args", "nothing")
    assert done.returncode == 2 and "no measure_nothing.py. It has: attentions" in done.stderr
    done = said("experiment", "02", "--args", "nothing")
    assert done.returncode == 2 and "It has none." in done.stderr
