"""Self-contained HTML pages: they make no request, and suit dark and light themes, phones and screen readers."""

import base64
import hashlib
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from grader.catalog import paths
from grader.reports import templating


def document(
    template: str | Template, title: str, *, script: str = "", style: str = "", has_images: bool = False, **facts: Any
) -> str:
    """A whole page.

    template: extends reports/templates/page.html and shows the facts; title: the page's heading; script, style: texts
    of files of this package; has_images: whether it holds images, as data: addresses. The page's content security
    policy allows exactly this: no style="…", no onclick="…", no image from elsewhere.
    """
    style = paths.module("reports/style.css").read_text("utf-8") + style
    policy = f"default-src 'none'; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    if script:
        policy += f"; script-src {_digest(script)}"
    if has_images:
        policy += "; img-src data:"
    files = {"style": Markup(style), "script": Markup(script)}
    return templating.render(template, title=title, policy=policy, **files, **facts)


def _digest(text: str) -> str:
    """The hash of a style or script as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
