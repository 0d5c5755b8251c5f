"""The jinja2 environment of every page. No text that a page shows can become markup or contain control characters.

A template is named by its path in grader/, as in "reports/templates/page.html".
"""

from collections.abc import Callable
from typing import Any

import markupsafe
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from grader.catalog import paths
from grader.records.sanitize import inert


def render(template: str | Template, **facts: Any) -> str:
    """A rendered template. Raises jinja2.UndefinedError where it shows a value that is not among the facts."""
    return ENVIRONMENT.get_template(template).render(facts)


def macro(template: str, name: str) -> Callable[..., Markup]:
    """One macro of a template as a function."""
    return getattr(ENVIRONMENT.get_template(template).module, name)


def escape(value: object) -> Markup:
    """A value as inert HTML, which is safe also within an attribute."""
    return markupsafe.escape(_inert(value))


def _inert(value: object) -> object:
    """Markup unchanged, and any other value as text without control characters, which jinja2 escapes afterwards."""
    return value if hasattr(value, "__html__") else inert(str(value))


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
ENVIRONMENT.filters["zip"] = zip
