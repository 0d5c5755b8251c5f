"""The three files of a new exercise's interactive figure, with TODOs that say what to write."""

from pathlib import Path

from grader.catalog import paths


def files(folder: str) -> dict[Path, str]:
    """Path → content."""
    return {paths.figure_data(folder): NUMBERS, paths.figure_script(folder): SCRIPT, paths.figure_cases(folder): CASES}


NUMBERS = '''"""The figure: TODO: whose numbers it shows, in one sentence."""

import torch

from grader.authors import Figure, Start


def data(documented):
    """What the script is given as model.get("data"). documented: the printed numbers by id."""
    return {"x": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}  # TODO: inputs and weights; the script computes the rest


# TODO: the matrices that are shown first, by name, and the documented number that each must equal
FIGURE = Figure("TODO: what the still picture shows.", data, {"result": Start("example")})
'''
SCRIPT = """// TODO: the one idea of this figure, in one sentence.

import { frame } from "../../grader/integrations/figures/frame.js";
import { matrix } from "../../grader/integrations/figures/tables.js";

export default {
  render({ model, el }) {
    const { x } = model.get("data");
    const figure = frame(el, "TODO: what there is to see, in one sentence.");
    const factor = figure.slider({ label: "Factor", min: 0, max: 5, step: 0.5, digits: 1, value: 1 });
    figure.draw(() => ({
      show: matrix({ name: "result", values: x.map((row) => row.map((value) => value * factor.value)) }),
      say: `TODO: what is seen now, with its numbers: the factor is ${factor.value}.`,
    }));
  },
};
"""
CASES = '''"""What is done to the figure, and what torch computes must come out."""

import torch
from figure_case import Case


def result(factor: float) -> dict[str, torch.Tensor]:
    """TODO: what the figure must show, by the names of its matrices, computed by torch and not by the script."""
    return {"result": torch.tensor([[1.0, 2.0], [3.0, 4.0]]) * factor}


# TODO: what is done (steps as `act` in figure_pages.py takes them), what is shown, and what the sentence says
CASES = [
    Case("nothing", [("move", "Factor", 0)], lambda: result(0.0), "the factor is 0"),
    Case("half", [("move", "Factor", 0.5)], lambda: result(0.5), "the factor is 0.5"),
    Case("most", [("move", "Factor", 5)], lambda: result(5.0), "the factor is 5"),
]
'''
