"""Quarto's page as crossover writes it: with a content security policy, and with its style sheets only once.

Quarto embeds the whole of Bootstrap three times: for the light theme, for the dark theme, and for browsers without
scripts. Nearly all rules are the same.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline' data:; img-src data:; "
    "font-src data:; base-uri 'none'; form-action 'none'"
)
"""What a browser may run and load: scripts inside the page, as Quarto writes them, and nothing from elsewhere."""

SHEET = re.compile(r'<link href="data:text/css,(?P<css>[^"]*)"(?P<rest>[^>]*id="quarto-bootstrap"[^>]*)>')
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|url\([^"\'][^)]*\)|[{};]', re.DOTALL)
LIGHT, DARK, WITHOUT_SCRIPTS = range(3)


def finished(page: str) -> str:
    """Quarto's page with the policy, and as small as it can be. A page of another form keeps its style sheets."""
    page = re.sub(r"<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">', page, count=1)
    sheets = list(SHEET.finditer(page))
    kinds = ["quarto-color-alternate" in sheet["rest"] for sheet in sheets]
    if kinds != [False, True, False] or "quarto-color-scheme-extra" not in sheets[WITHOUT_SCRIPTS]["rest"]:
        return page
    light, dark = (unquote(sheets[kind]["css"]) for kind in (LIGHT, DARK))
    replaced = [
        "<style>" + light.replace("</", r"<\/") + "</style>" + _link("", sheets[LIGHT]["rest"]),
        # Quarto's script switches it on. Without scripts the page stays light.
        _link(differences(light, dark), sheets[DARK]["rest"].replace('"stylesheet"', '"disabled-stylesheet"')),
        _link("", sheets[WITHOUT_SCRIPTS]["rest"]),
    ]
    for sheet, new in reversed(list(zip(sheets, replaced, strict=True))):
        page = page[: sheet.start()] + new + page[sheet.end() :]
    return page


def _link(css: str, rest: str) -> str:
    escaped = re.sub(r'[%#"&<>\n]', lambda found: f"%{ord(found[0]):02X}", css)
    return f'<link href="data:text/css,{escaped}"{rest}>'


def differences(base: str, other: str) -> str:
    """The rules that make the style sheet `other` of `base`, when they follow it.

    A rule that both have is repeated if its selector or a part of it has a different rule before it.
    """
    known = set(rules(base))
    changed: set[str] = set()
    kept = []
    for condition, rule in rules(other):
        selectors = {selector.strip() for selector in rule.partition("{")[0].split(",")}
        if (condition, rule) not in known or selectors & changed:
            kept.append(f"{condition}{{{rule}}}" if condition else rule)
            changed |= selectors
    return "".join(kept)


def rules(css: str, condition: str = "") -> Iterator[tuple[str, str]]:
    """The rules of a style sheet in order, each after its condition, such as `@media print`."""
    start = depth = opened = 0
    for token in TOKEN.finditer(css):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 1 and token[0] == "{":
            opened = token.end()
        if depth == 0 and token[0] in ("}", ";"):
            rule = css[start : token.end()].strip()
            if not condition and rule.startswith(("@media", "@supports")):
                yield from rules(css[opened : token.start()], css[start : opened - 1].strip())
            else:
                yield condition, rule
            start = token.end()
