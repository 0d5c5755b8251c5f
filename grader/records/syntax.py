"""Reads Python source as a syntax tree: statements, imported names, what a dotted name stands for, and places in it.

A notebook's code is one source, in which a title precedes each cell. Cells are numbered from 1, as in Jupyter.
"""

import ast
import functools
import re
from collections.abc import Container, Iterable, Iterator

GETTING = ("getattr", "setattr", "vars", "exec", "eval", "compile", "globals", "__import__")  # built-in functions
MAX_STEPS = 8  # how many assignments of one name to another are followed
MAX_DOTTED = 300  # characters of the dotted name that a name stands for
BODIES = ("body", "handlers", "orelse", "finalbody", "cases")  # fields of a statement that hold other statements
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LINE_ENDS = re.compile(r"\r\n|\r|\n")
TITLE = re.compile(r"# --- (?:cell (\d+)|In \[(\d+)\]) ---")


@functools.lru_cache(maxsize=1)
def parse(source: str) -> ast.Module | None:
    """The syntax tree, parsed once; None where the source is not Python (loading it reports why).

    A stranger's source is parsed only in functions that are `limited`. There a tree that is too deep or too large
    raises RecursionError or MemoryError, which ends the call: no rule would have been applied to such a source.
    """
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def walk(root: ast.AST, seen: Container[ast.AST] = ()) -> list[ast.AST]:
    """The nodes that ast.walk gives without loads and stores, in a third of the time: a class has thousands of files.

    The nodes below a node of `seen` are left out.
    """
    nodes = [root]
    for node in nodes:  # the loop extends the list
        if seen and node in seen:
            continue
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                nodes += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                nodes.append(value)
    return nodes


def statements(tree: ast.Module, closed: tuple[type[ast.AST], ...] = ()) -> Iterator[ast.stmt]:
    """Every statement in the order of ast.walk, which visits expressions too and takes ten times as long.

    closed: the kinds of statements whose inner statements are left out.
    """
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # the loop extends the list
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, closed):
            for field in BODIES:
                nodes += getattr(node, field, ())


def is_text(node: ast.AST) -> bool:
    """Whether a node is a statement that is only a constant, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_unwritten(node: ast.AST) -> bool:
    """Whether a node is the statement that a stub has in the place of a body."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    called = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(called, ast.Name) and called.id == "NotImplementedError"


def imported(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The imported names and what they stand for: {"F": "torch.nn.functional", "sm": "torch.softmax"}."""
    aliases = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound_name = alias.name.partition(".")[0]  # what `import torch.nn` binds
                aliases[alias.asname or bound_name] = alias.name if alias.asname else bound_name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return aliases


def followed(nodes: Iterable[ast.AST], imports: dict[str, str]) -> dict[str, str]:
    """The imported names, and the names bound to one of them by assignment, default, loop, walrus or `with`.

    Where a name is bound more than once, an import has priority, then a binding to a part of a library.
    """
    pairs = [pair for node in nodes for pair in _bindings(node)]
    aliases = {**{name: name for name in GETTING}, **imports}
    for _ in range(MAX_STEPS):
        count_before = len(aliases)
        for name, value in pairs:
            parts, root = _chain(value, aliases)
            if name not in aliases and root in aliases:
                aliases[name] = ".".join([aliases[root], *parts])[:MAX_DOTTED]
        if len(aliases) == count_before:
            break
    return {name: text for name, text in aliases.items() if name != text or name in imports}


def dotted(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The parts of a dotted name: ["torch", "nn", "functional", "softmax"] for F.softmax and getattr(F, "softmax").

    A chain of attributes on anything but a name begins with "".
    """
    parts, root = _chain(node, aliases)
    return [*aliases.get(root, root).split("."), *parts]


def constant_getattr(node: ast.AST, aliases: dict[str, str]) -> str | None:
    """The attribute that a call of getattr with a constant name reads; None for any other node."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or len(node.args) < 2:
        return None
    attribute = node.args[1]
    is_getattr = aliases.get(node.func.id, node.func.id).rpartition(".")[2] == "getattr"
    is_constant = isinstance(attribute, ast.Constant) and isinstance(attribute.value, str)
    return str(attribute.value) if is_getattr and is_constant and isinstance(attribute, ast.Constant) else None


def title(number: int) -> str:
    """The line above the code of a cell."""
    return f"# --- cell {number} ---"


def is_notebook(source: str) -> bool:
    """Whether a source is a notebook's: it begins with a title."""
    return TITLE.match(source) is not None


def place(source: str, line: int) -> str:
    """A line of the source, in words."""
    if is_notebook(source):
        lines = LINE_ENDS.split(source)[:line]
        for back, text in enumerate(reversed(lines)):
            match = TITLE.fullmatch(text)
            if match and back:
                return f"cell {match[1] or match[2]}, line {back}"
    return f"line {line}"


def in_file(source: str, filename: str, line: int) -> str:
    """A line with the file's name: "scores.py:60", which terminals show as a link; "scores.ipynb, cell 7, line 3"."""
    return f"{filename}, {place(source, line)}" if is_notebook(source) else f"{filename}:{line}"


def _chain(node: ast.AST, aliases: dict[str, str]) -> tuple[list[str], str]:
    """The attributes of a chain, and the name at its root, "" where the root is not a name."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call) and (attribute := constant_getattr(node, aliases)) is not None:
            parts += reversed(attribute.split("."))
            node = node.args[0]
        else:
            break
    return parts[::-1], node.id if isinstance(node, ast.Name) else ""


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a node binds, each with its value, where that is an attribute, a name or a call."""
    pairs: list[tuple[ast.expr | None, ast.expr | None]]
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        pairs = [(node.target, node.value)]
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        items = node.iter.elts if isinstance(node.iter, (ast.Tuple, ast.List, ast.Set)) else []
        pairs = [(node.target, item) for item in items]
    elif isinstance(node, ast.withitem):
        pairs = [(node.optional_vars, node.context_expr)]
    elif isinstance(node, (*FUNCTIONS, ast.Lambda)):
        positional = [*node.args.posonlyargs, *node.args.args]
        defaults = [*zip(reversed(positional), reversed(node.args.defaults))]
        keywords = zip(node.args.kwonlyargs, node.args.kw_defaults)
        pairs = [(ast.Name(argument.arg), value) for argument, value in [*defaults, *keywords]]
    else:
        return
    for target, value in pairs:
        targets, values = [target], [value]
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            targets, values = [*target.elts], [*value.elts]
        for name, bound in zip(targets, values):
            if isinstance(name, ast.Name) and isinstance(bound, (ast.Name, ast.Attribute, ast.Call)):
                yield name.id, bound
