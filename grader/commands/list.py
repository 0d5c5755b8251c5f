"""Show all exercises with state and points."""

import argparse
import json

from grader import catalog, errors, progress

SIGNS = {"passed": "✔", "begun": "…", "not started": " "}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json", "md"), default="text")


def run(options: argparse.Namespace) -> int:
    print(RENDER[options.format](rows()), end="")
    return errors.PASSED


def rows() -> list[dict]:
    """One row an exercise, as plain data."""
    states = progress.load()
    found = []
    for exercise in catalog.exercises():
        state = states.get(exercise.folder, progress.State())
        found.append(
            {
                "exercise": exercise.folder,
                "title": exercise.title,
                "track": exercise.track,
                "status": state.status,
                "points": state.points,
                "max_points": exercise.max_points,
                "attempts": state.attempts,
                "first_pass": state.first_pass,
            }
        )
    return found


def text(found: list[dict]) -> str:
    lines, track = [], None
    width = max((len(row["title"]) for row in found), default=0)
    for row in found:
        if row["track"] != track:
            track = row["track"]
            lines.append(f"{track} track")
        share = row["points"] / row["max_points"] if row["max_points"] else 0
        bar = "█" * round(share * 10) + "░" * (10 - round(share * 10))
        tries = f"  {row['attempts']} tries" if row["attempts"] else ""
        points = f"{row['points']:g}/{row['max_points']:g}"
        name = f"{SIGNS[row['status']]} {row['exercise'][:2]} {row['title']:<{width}}"
        lines.append(f" {name}  {bar} {points:>6}  {row['status']}{tries}")
    done = sum(row["points"] for row in found)
    lines.append(f"{done:g} of {sum(row['max_points'] for row in found):g} points. Grade one: make check EX=03")
    return "\n".join(lines) + "\n"


def markdown(found: list[dict]) -> str:
    lines = ["| exercise | state | points |", "|---|---|---:|"]
    for row in found:
        title = f"{row['exercise'][:2]} {row['title']}"
        lines.append(f"| {title} | {row['status']} | {row['points']:g}/{row['max_points']:g} |")
    return "\n".join(lines) + "\n"


RENDER = {
    "text": text,
    "md": markdown,
    "json": lambda found: json.dumps({"schema": 1, "exercises": found}, indent=2, ensure_ascii=False) + "\n",
}
