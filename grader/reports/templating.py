"""What every page is made with: the jinja2 environment, and the colours of palette.toml, also for other pictures.

No text that a page shows can become markup or contain control characters.

A template is named by its path in grader/, as in "reports/templates/page.html".
"""

import base64
import functools
import hashlib
import re
from collections.abc import Callable
from typing import Any

import markupsafe
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from grader.catalog import paths
from grader.catalog.project import read_toml
from grader.records.sanitize import inert

CODE = re.compile(r"`([^`\n]+)`")
BESIDE = "'self' file:"  # no browser takes a file opened from a disk for the page's own origin
COLOURS = ":root { color-scheme: light dark; %s }\n@media (prefers-color-scheme: dark) { :root { %s } }\n"


def _inert(value: object) -> object:
    """Markup unchanged, and any other value as text without control characters, which jinja2 escapes afterwards."""
    return value if hasattr(value, "__html__") else inert(str(value))


def render(template: str | Template, **facts: Any) -> str:
    """A rendered template. Raises jinja2.UndefinedError where it shows a value that is not among the facts."""
    return ENVIRONMENT.get_template(template).render(facts)


def macro(template: str, name: str) -> Callable[..., Markup]:
    """One macro of a template as a function."""
    found: Callable[..., Markup] = getattr(ENVIRONMENT.get_template(template).module, name)
    return found


def escape(value: object) -> Markup:
    """A value as inert HTML, which is safe also within an attribute."""
    return markupsafe.escape(_inert(value))


def code(text: str) -> Markup:
    """A sentence of a lesson as inert HTML, with what is in backquotes as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))


ENVIRONMENT = Environment(
    loader=FileSystemLoader(paths.GRADER),
    autoescape=True,
    finalize=_inert,  # called with each value that a template shows
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    auto_reload=False,
)
ENVIRONMENT.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
ENVIRONMENT.filters["points"] = lambda points: f"{points:g}"
ENVIRONMENT.filters["thousands"] = lambda count: f"{count:,}"
ENVIRONMENT.filters["code"] = code
ENVIRONMENT.filters["zip"] = zip


def document(
    template: str | Template,
    title: str,
    *,
    script: str = "",
    style: str = "",
    has_pictures: bool = False,
    **facts: Any,
) -> str:
    """A whole page.

    template: extends reports/templates/page.html and shows the facts; title: the page's heading; script, style: texts
    of files of this package; has_pictures: whether it holds images, as data: addresses, and formulas, with a font
    beside the page. The page's content security policy allows exactly this: no style="…", no onclick="…", no image
    from elsewhere.
    """
    style = (
        COLOURS % (_declared("{0}"), _declared("{1}")) + paths.module("reports/style.css").read_text("utf-8") + style
    )
    policy = f"default-src 'none'; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    policy += f"; script-src {_digest(script)}" if script else ""
    policy += f"; img-src data:; font-src {BESIDE}" if has_pictures else ""
    return render(template, title=title, policy=policy, style=Markup(style), script=Markup(script), **facts)


@functools.cache
def palette() -> dict[str, Any]:
    """[light, dark] by name, and the colours of heat maps under "heat"; each as #rrggbb."""
    return read_toml(paths.module("reports/palette.toml"))


def colours_within(selector: str) -> str:
    """The colours as variables of an element, which follows its own scheme."""
    return f"{selector} {{ {_declared('light-dark({}, {})')} }}\n"


def _digest(text: str) -> str:
    """The hash of a style or script as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _declared(form: str) -> str:
    """A variable for each colour. form: its value, of the light colour and the dark one."""
    return " ".join(f"--{name}: {form.format(*pair)};" for name, pair in palette().items() if isinstance(pair, list))
