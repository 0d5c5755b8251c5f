"""Records `make start` for the README: a real run with a real mistake. Usage: python .ci/recording.py

Types three versions of exercise 06 into a fresh checkout, waits for each verdict, and writes the screens as one
animated picture, docs/watch.svg. It follows the reader's light or dark scheme, and holds still for who wants no motion.
"""

import io
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI, TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from at_terminal import AtTerminal, checkout  # noqa: E402

EXERCISE = "06_scaled_dot_product_attention"
ROWS, COLUMNS = 26, 92
SCALE = " / keys.shape[-1] ** 0.5"
PLAIN = 'style="font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"'
FRAME = '<g class="frame frame-{number}">{body}</g>'
STILL = 2  # the frame that is seen where nothing moves: the diagnosis
SECONDS = 12
STYLE = """.frame {{ opacity: 0; animation: {seconds}s step-end infinite; }} .frame-{still} {{ opacity: 1; }}
{keyframes}
@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none; }} }}"""


def main() -> None:
    """Record the three screens and write the picture."""
    screens = record()
    svg = animated([in_both_schemes(screen, f"f{number}") for number, screen in enumerate(screens, 1)])
    target = ROOT / "docs" / "watch.svg"
    target.write_text(svg, "utf-8")
    print(f"{target.relative_to(ROOT)}: {len(svg.encode()) / 1000:.0f} kB")


def record() -> list[str]:
    """The screens of one run, with their colours: as given out, with the scale forgotten, right."""
    with tempfile.TemporaryDirectory() as folder:
        root = checkout(Path(folder))
        slug = EXERCISE.partition("_")[2]
        file = root / "exercises" / EXERCISE / f"{slug}.py"
        right = (root / "solutions" / EXERCISE / f"{slug}.py").read_text("utf-8")
        command = [sys.executable, "-m", "grader", "--make", "start", "06"]
        terminal = AtTerminal(command, root, ROWS, COLUMNS, COLORTERM="truecolor")
        try:
            terminal.shows("Not started")
            screens = [last_page(terminal)]
            file.write_text(right.replace(f"torch.softmax(scores{SCALE}", "torch.softmax(scores"), "utf-8")
            terminal.shows("return torch.softmax(scores")
            screens.append(last_page(terminal))
            file.write_text(right, "utf-8")
            terminal.shows("n: on to")
            screens.append(last_page(terminal))
            terminal.type("q")
            terminal.ends()
        finally:
            terminal.close()
    return screens


def last_page(terminal: AtTerminal) -> str:
    """The page on the screen, with the codes of its colours and no others."""
    page = [page for page in terminal.raw.split("\x1b[H") if "\x1b[J" in page][-1]
    return re.sub(r"\x1b\[[0-9;?]*[A-HJKSTfhlsu]|\r", "", page)


def in_both_schemes(screen: str, name: str) -> tuple[str, str, str]:
    """A screen as SVG: the styles for light and for dark, and the picture."""
    light, dark = (exported(screen, name, theme) for theme in (DEFAULT_TERMINAL_THEME, MONOKAI))
    return _styles(light), _styles(dark), _picture(light)


def exported(screen: str, name: str, theme: TerminalTheme) -> str:
    """A screen as rich draws it in one theme."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    lines = screen.splitlines()
    console.print(Text.from_ansi("\n".join(lines + [""] * (ROWS - len(lines)))))
    return console.export_svg(title="make start EX=06", theme=theme, unique_id=name)


def animated(frames: list[tuple[str, str, str]]) -> str:
    """The frames as one picture, one after the other."""
    keyframes = "\n".join(_keyframes(number, len(frames)) for number in range(1, len(frames) + 1))
    light, dark, pictures = zip(*frames)
    view = re.search(r'viewBox="[^"]+"', pictures[0])
    bodies = "".join(FRAME.format(number=number, body=body) for number, body in enumerate(pictures, 1))
    moving = STYLE.format(seconds=SECONDS, still=STILL, keyframes=keyframes)
    styles = f"{''.join(light)}@media (prefers-color-scheme: dark) {{{''.join(dark)}}}{moving}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {view[0] if view else ""} {PLAIN}>'
        f"<title>make start: a mistake, its name and its line, and the verdict after the fix</title>"
        f"<style>{styles}</style>{bodies}</svg>\n"
    )


def _keyframes(number: int, frames: int) -> str:
    """When one of the frames is seen."""
    first, last = int(number == 1), int(number == frames)
    begins, ends = (f"{100 * place / frames:.1f}%" for place in (number - 1, number))
    seen = f"0% {{ opacity: {first}; }} {begins} {{ opacity: 1; }} {ends}, 100% {{ opacity: {last}; }}"
    return f".frame-{number} {{ animation-name: show-{number}; }} @keyframes show-{number} {{ {seen} }}"


def _styles(svg: str) -> str:
    """The rules of a picture, without the font from elsewhere; its ground as a rule too."""
    rules = "".join(re.findall(r"<style>(.*?)</style>", svg, re.S))
    rules = re.sub(r"@font-face\s*\{.*?\}", "", rules, flags=re.S)
    rules = re.sub(r"font-family: Fira Code, monospace;", "font-family: inherit;", rules)
    ground = re.search(r'<rect fill="([^"]+)" stroke="[^"]*" stroke-width="1"', svg)
    unique = re.search(r"\.(f\d+)-matrix", rules)
    if not (ground and unique and (ink := re.search(r'-title" fill="([^"]+)"', svg))):
        raise SystemExit("rich draws a terminal in another way now: change _styles and _picture")
    name = unique[1]
    return f"{rules}.{name}-ground {{ fill: {ground[1]}; stroke: #8888; }} .{name}-title {{ fill: {ink[1]}; }}"


def _picture(svg: str) -> str:
    """A picture without its styles."""
    body = re.sub(r"<style>.*?</style>|<!--.*?-->", "", svg, flags=re.S)
    name = re.findall(r"f\d+(?=-matrix)", body)[0]
    body = re.sub(r'<rect fill="[^"]+" stroke="[^"]*" stroke-width="1"', f'<rect class="{name}-ground"', body, count=1)
    return re.sub(r'(-title") fill="[^"]+"', r"\1", body)


if __name__ == "__main__":
    main()
