"""Is Quarto's page safe to open and small, and are its themes the same as before?"""

from urllib.parse import quote

from crossover.report.pages import renderer

LIGHT = "@charset 'x';a{color:red}b{color:tan}@media print{a{color:red}}a{font:x}i::after{content:'}'}"
DARK = LIGHT.replace("a{color:red}b", "a{color:blue}b", 1)


def page():
    classes = ("quarto-color-scheme", "quarto-color-scheme quarto-color-alternate", "quarto-color-scheme-extra")
    sheets = [
        f'<link href="data:text/css,{quote(css)}" rel="stylesheet" class="{names}" id="quarto-bootstrap">'
        for css, names in zip((LIGHT, DARK, LIGHT), classes, strict=True)
    ]
    return f"<html><head>{''.join(sheets)}</head><body>x</body></html>"


def test_the_policy_lets_nothing_in_from_elsewhere():
    made = renderer.finished_quarto_page(page())
    assert f'<head><meta http-equiv="Content-Security-Policy" content="{renderer.QUARTO_POLICY}">' in made
    assert "http" not in renderer.QUARTO_POLICY and "default-src 'none'" in renderer.QUARTO_POLICY


def test_what_the_themes_share_is_embedded_once():
    made = renderer.finished_quarto_page(page())
    assert made.count("tan") == made.count(quote("}", safe="")) + 1 == 1
    assert f"<style>{LIGHT}</style>" in made
    assert made.count('id="quarto-bootstrap"') == 3, "Quarto's script looks for all three"
    assert made.count('rel="disabled-stylesheet"') == 1, "without scripts the page is light"


def test_a_shared_rule_is_repeated_after_a_different_rule_with_its_selector():
    assert renderer.style_differences(LIGHT, DARK) == ("a{color:blue}@media print{a{color:red}}a{font:x}")


def test_a_page_of_another_form_keeps_its_style_sheets():
    other = page().replace("quarto-color-scheme-extra", "quarto-color-other")
    assert renderer.finished_quarto_page(other).count(quote(LIGHT)) == 2
