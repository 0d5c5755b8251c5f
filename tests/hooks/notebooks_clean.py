"""Pre-commit hook: a notebook is committed without outputs. What it finds it strips, and asks for another look."""

import json
import sys
from pathlib import Path


def main(names: list[str]) -> int:
    dirty = [name for name in names if strip(Path(name))]
    for name in dirty:
        print(f"{name}: the outputs were stripped. Look at it, then: git add {name}")
    return bool(dirty)


def strip(path: Path) -> bool:
    """Take outputs and counters out of a notebook. Gives whether there were any."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        print(f"{path} is not a notebook that can be read.")
        return True
    found = False
    for cell in cells:
        found |= bool(cell.get("outputs")) or cell.get("execution_count") is not None
        cell["outputs"], cell["execution_count"] = [], None
    if found:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
