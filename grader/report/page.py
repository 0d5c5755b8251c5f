"""One page of HTML that needs nothing else: no request leaves it, it reads in dark and light, on a phone, by ear."""

import base64
import hashlib
import html

from grader import paths
from grader.report.inert import inert

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><h1>{title}</h1></header>
<main id="main" tabindex="-1">
{body}
</main>
<footer><p>Made by attention-kata. This page loads nothing from anywhere.</p></footer>
{script}</body>
</html>
"""


def document(title: str, body: str, script: str = "", style: str = "") -> str:
    """A whole page. `title` is text and becomes the heading; `body` is HTML, and so is its author's to escape.

    The page's policy lets this very style and script in and nothing else: no style="…", no onclick="…".
    """
    style = paths.STYLE.read_text("utf-8") + style
    policy = f"default-src 'none'; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    if script:
        policy += f"; script-src {_digest(script)}"
        script = f"<script>{script}</script>\n"
    return PAGE.format(policy=policy, title=escape(title), style=style, body=body, script=script)


def escape(text: object) -> str:
    """Any text, also a learner's, as HTML that shows it and does nothing else; fit for attributes too."""
    return html.escape(inert(str(text)), quote=True)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
