"""The program of an experiment's process: it runs a lesson's script and prints the result as one line of JSON.

    python -c START /repository exercises/02_softmax_naive/experiment.py

It imports nothing of the grader, so that torch's import is all that it waits for.
"""

import contextlib
import json
import runpy
import sys
from pathlib import Path
from typing import Any

NAMES = ("measure", "claim", "PLOT", "CLAIM")  # what a script defines, beside its docstring


def measured(script: Path) -> dict[str, Any]:
    """Run a script: question, rows, plot (a column's name), claim (in words) and holds. What it prints goes to stderr.

    Raises ValueError where the script lacks a name or a row lacks a column; what the script raises passes through.
    """
    with contextlib.redirect_stdout(sys.stderr):
        names = runpy.run_path(str(script))
        missing = [name for name in NAMES if name not in names]
        if missing or not names["__doc__"]:
            raise ValueError(f"the script lacks {', '.join(missing) or 'a docstring with its question'}")
        plot, rows = names["PLOT"], [dict(row) for row in names["measure"]()]
        if not rows or any(list(row) != list(rows[0]) for row in rows) or plot not in rows[0]:
            raise ValueError(f"measure() gives rows with the same columns, one of them PLOT = {plot!r}")
        holds = bool(names["claim"](rows))
    question = names["__doc__"].strip().splitlines()[0]
    return {"question": question, "rows": rows, "plot": plot, "claim": names["CLAIM"], "holds": holds}


def main() -> None:
    """Measure the script that is named, and print the result or where the script broke."""
    script = Path(sys.argv[1])
    try:
        print(json.dumps(measured(script)))
    except Exception as error:
        frame, line = error.__traceback__, 0
        while frame is not None:
            line = frame.tb_lineno if frame.tb_frame.f_code.co_filename == str(script) else line
            frame = frame.tb_next
        line = getattr(error, "lineno", None) or line  # of a SyntaxError
        print(json.dumps({"error": f"{type(error).__name__}: {error}", "line": line}))


if __name__ == "__main__":
    main()
