"""Does no code parse a protocol? It is a label for people; programs select by keys."""

import ast

import pytest

from crossover.paths import PACKAGE

METHODS = {
    *("split", "rsplit", "partition", "rpartition", "splitlines", "startswith", "endswith", "removeprefix"),
    *("removesuffix", "replace", "find", "rfind", "index", "rindex", "count", "strip", "lstrip", "rstrip"),
}
"""Methods that look inside a string."""

SEARCHES = {
    *("match", "fullmatch", "search", "findall", "finditer", "sub", "subn", "split"),
    *("fnmatch", "fnmatchcase", "filter", "translate"),
}
"""Functions of re and fnmatch."""


def is_label(node):
    """Whether an expression has the name of a protocol: `protocol`, `row["protocol"]`, `panel.protocol`."""
    match node:
        case ast.Name(id="protocol") | ast.Attribute(attr="protocol"):
            return True
        case ast.Subscript(slice=ast.Constant(value="protocol")):
            return True
        case ast.Call(func=func):
            return is_label(func) or (
                isinstance(func, ast.Name | ast.Attribute) and ast.unparse(func).endswith("label")
            )
    return False


def takes_apart(node):
    match node:
        case ast.Call(func=ast.Attribute(value=text, attr=method)) if method in METHODS and is_label(text):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in SEARCHES:
            return any(map(is_label, args))
        case ast.Compare(ops=ops, comparators=others):
            inside = [other for op, other in zip(ops, others, strict=True) if isinstance(op, ast.In | ast.NotIn)]
            return any(map(is_label, inside))
        case ast.Subscript(value=text, slice=part):
            # An attribute of a module or a table with that name is not a string.
            return is_label(text) and (isinstance(part, ast.Slice) or isinstance(getattr(part, "value", None), int))
    return False


def taken_apart(source):
    """The lines of a module that split, glob, match, search or slice a label."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if takes_apart(node)]


@pytest.mark.parametrize(
    "line",
    [
        'row["protocol"].split(", ")',
        '"ipc" in facts["protocol"]',
        'fnmatchcase(facts["protocol"], wanted)',
        "pattern.match(panel.protocol)",
        "cell.protocol[:5]",
        'protocol.label(keys).endswith(", polled")',
    ],
)
def test_code_that_parses_a_label_is_found(line):
    assert taken_apart(line) == [1]


def test_code_that_compares_or_prints_a_label_is_not_found():
    lines = [
        'row["protocol"] == other["protocol"]',
        "found[panel.protocol, panel.placement]",
        'rows["protocol"].map(keys)',
    ]
    assert taken_apart("\n".join([*lines, "protocol in cells", 'f"{protocol} ({placement})"'])) == []


def test_no_code_parses_a_label():
    modules = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}
    assert {name for name, source in modules.items() if taken_apart(source)} == set()
