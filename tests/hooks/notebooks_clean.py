"""Pre-commit hook: a notebook is committed without outputs. What it finds it strips, and asks for another look."""

import json
import sys
from pathlib import Path


def main(names: list[str]) -> int:
    problems = [problem for name in names if (problem := strip(Path(name)))]
    print("\n".join(problems), end="\n" if problems else "")
    return bool(problems)


def strip(path: Path) -> str:
    """Take outputs and counters out of a notebook. Returns what to do now, "" if there were none."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return f"{path}: this is not a notebook that can be read, and was left as it is. Save it again in Jupyter."
    found = False
    for cell in cells:
        found |= bool(cell.get("outputs")) or cell.get("execution_count") is not None
        cell["outputs"], cell["execution_count"] = [], None
    if not found:
        return ""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return f"{path}: the outputs were stripped. Look at it, then: git add {path}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
