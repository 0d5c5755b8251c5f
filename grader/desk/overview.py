"""The learner's progress: a row of plain data for each exercise, and its forms for `list` and `progress`."""

import json
import time
from dataclasses import asdict

from grader import catalog
from grader.desk import progress

SIGNS = {"passed": "✔", "begun": "…", "not started": " "}
BAR = 10


def rows() -> list[dict]:
    """One row for each exercise, in order."""
    states = progress.load()
    table = []
    for exercise in catalog.exercises():
        state = states.get(exercise.folder, progress.State())
        table.append(
            {
                "exercise": exercise.folder,
                "title": exercise.title,
                "track": exercise.track,
                "status": state.status,
                "points": state.points,
                "max_points": exercise.max_points,
                "attempts": state.attempts,
                "first_pass": state.first_pass,
                "hints": sum(state.hints.values()),
                "changed": state.changed,
                "files": {kind: asdict(file) for kind, file in state.files.items()},
            }
        )
    return table


def tracks(table: list[dict]) -> list[dict]:
    """One row for each track: how many of its exercises are passed, and its points."""
    sums: dict[str, dict] = {}
    for row in table:
        empty = {"track": row["track"], "exercises": 0, "passed": 0, "points": 0.0, "max_points": 0.0}
        track = sums.setdefault(row["track"], empty)
        track["exercises"] += 1
        track["passed"] += row["status"] == "passed"
        for key in ("points", "max_points"):
            track[key] = round(track[key] + row[key], 6)
    return list(sums.values())


def listed(table: list[dict]) -> str:
    """All exercises with state and points, for `make list`."""
    lines, track = [], None
    for row in table:
        if row["track"] != track:
            track = row["track"]
            lines.append(f"{track} track")
        points = f"{row['points']:g}/{row['max_points']:g}"
        lines.append(f" {_name(row, 52)}  {points:>7}  {row['status']}")
    lines.append(f"{_sum(table)}. Grade one: make check EX=03")
    return "\n".join(lines) + "\n"


def columns(table: list[dict]) -> list[str]:
    """Each track as a text of short lines, which stand beside each other in a terminal of 80 columns.

    The warm-up stands above the track that follows it.
    """
    texts: list[str] = []
    above: list[str] = []
    for track in tracks(table):
        lines = [*above, f"{track['track']} track  {track['points']:g}/{track['max_points']:g}", ""]
        for row in table:
            if row["track"] == track["track"]:
                lines.append(f"{SIGNS[row['status']]} {row['exercise'][:2]} {row['title']}")
        above = [*lines, ""] if track["track"] == catalog.WARM_UP else []
        if not above:
            texts.append("\n".join(lines))
    return texts


def text(table: list[dict]) -> str:
    """The whole history, for `make progress`: a bar for each exercise and each track."""
    lines = []
    for track in tracks(table):
        lines.append(f"{track['track']} track  {_bar(track)} {track['passed']} of {track['exercises']} passed")
        for row in table:
            if row["track"] == track["track"]:
                points = f"{row['points']:g}/{row['max_points']:g}"
                lines.append(f" {_name(row, 28)} {_bar(row)} {points:>7}  {_history(row)}".rstrip())
                lines += [f"      {text}" for text in [of_files(row)] if text]
    lines.append(f"{_sum(table)}. {_next(table)}")
    return "\n".join(lines) + "\n"


def markdown(table: list[dict]) -> str:
    """A table for one's own README."""
    lines = ["| exercise | state | | points | tries | first passed |", "|---|---|---|---:|---:|---|"]
    for row in table:
        points = f"{row['points']:g}/{row['max_points']:g}"
        title = f"{row['exercise'][:2]} {row['title']}"
        tries = row["attempts"] or ""
        lines.append(f"| {title} | {row['status']} | {_bar(row)} | {points} | {tries} | {_day(row['first_pass'])} |")
    for track in tracks(table):
        points, passed = f"{track['points']:g}/{track['max_points']:g}", f"{track['passed']} of {track['exercises']}"
        lines.append(f"| **{track['track']} track** | **{passed}** | {_bar(track)} | **{points}** | | |")
    return "\n".join(lines) + "\n"


def as_json(table: list[dict]) -> str:
    """All exercises and tracks as JSON, schema 1."""
    document = {"schema": 1, "exercises": table, "tracks": tracks(table)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _sum(table: list[dict]) -> str:
    """The points of all tracks but the warm-up."""
    counted = [row for row in table if row["track"] != catalog.WARM_UP]
    return f"{sum(row['points'] for row in counted):g} of {sum(row['max_points'] for row in counted):g} points"


def _name(row: dict, width: int) -> str:
    title = row["title"] if len(row["title"]) <= width else row["title"][: width - 1] + "…"
    return f"{SIGNS[row['status']]} {row['exercise'][:2]} {title:<{width}}"


def _bar(row: dict) -> str:
    share = row["points"] / row["max_points"] if row["max_points"] else 0.0
    full = min(int(share * BAR), BAR)  # never full before all is done
    return "█" * full + "░" * (BAR - full)


def of_files(row: dict) -> str:
    """The present state of the learner's files, where the row alone does not say it; "" otherwise."""
    names = {progress.FILE: ".py", progress.NOTEBOOK: "notebook"}
    files = [
        f"{names[kind]} {file['status']}, {file['points']:g}/{row['max_points']:g}"
        for kind, file in row["files"].items()
    ]
    passed = f"passed on {_day(row['first_pass'])}; since changed: " if row["changed"] else ""
    return passed + "; ".join(files) if passed or len(files) > 1 else ""


def _history(row: dict) -> str:
    day = _day(row["first_pass"]) if row["status"] == "passed" else row["status"]
    tries = "1 try" if row["attempts"] == 1 else f"{row['attempts']} tries"
    return f"{day}, {tries}" if row["attempts"] else day


def _day(seconds: float | None) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds)) if seconds is not None else ""


def _next(table: list[dict]) -> str:
    first = next((row for row in table if row["status"] != "passed" and not _is_behind(row, table)), None)
    if first is None:
        return "All is done."
    return f"Next: make watch EX={first['exercise'][:2]}, or make check EX={first['exercise'][:2]}"


def _is_behind(row: dict, table: list[dict]) -> bool:
    """Whether a row is the warm-up of a learner who has begun with the others."""
    begun = any(other["status"] != "not started" for other in table if other["track"] != catalog.WARM_UP)
    return row["track"] == catalog.WARM_UP and begun
