"""The two files of a new exercise's interactive figure, with TODOs that say what to write."""

from pathlib import Path

from grader.catalog import paths


def files(folder: str) -> dict[Path, str]:
    """Path → content."""
    return {paths.figure_data(folder): NUMBERS, paths.figure_script(folder): SCRIPT}


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
