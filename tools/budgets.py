"""Holds the source to its budgets: 400 code lines a file, 40 a function; docstrings, comments and SQL do not count."""

from __future__ import annotations

import ast
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 40
ROOT = Path(__file__).parents[1]
_ARGUMENT_TABLES = frozenset({"add_commands", "build_parser"})


def read_code_lines(file: Path) -> frozenset[int]:
    """Return the numbers of the lines that hold code: no blanks, comments or lines inside a longer string."""
    lines: set[int] = set()
    with file.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            one_line = token.type == tokenize.STRING and token.start[0] == token.end[0]
            if one_line or token.type in {tokenize.NAME, tokenize.OP, tokenize.NUMBER}:
                lines.add(token.start[0])
    return frozenset(lines)


def find_docstrings(tree: ast.Module) -> frozenset[int]:
    """Return the numbers of the lines that docstrings take."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return frozenset(lines)


def measure(file: Path) -> Iterator[str]:
    """Yield a line for each budget a file breaks."""
    tree = ast.parse(file.read_bytes())
    code = read_code_lines(file) - find_docstrings(tree)
    name = file.relative_to(ROOT)
    if len(code) > FILE_LINES:
        yield f"{name}: {len(code)} lines of code, {FILE_LINES} allowed"
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in _ARGUMENT_TABLES:
            continue
        size = sum(node.lineno <= number <= (node.end_lineno or 0) for number in code)
        if size > FUNCTION_LINES:
            yield f"{name}:{node.lineno}: {node.name} has {size} lines of code, {FUNCTION_LINES} allowed"


def main() -> int:
    """Print what is over budget and return 1 when anything is."""
    files = sorted((ROOT / "src").rglob("*.py")) + sorted((ROOT / "tools").glob("*.py"))
    broken = [line for file in files for line in measure(file)]
    for line in broken:
        print(line)
    print(f"budgets: {len(files)} files, {len(broken)} over")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
