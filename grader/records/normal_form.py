"""The normal form of a source: equal for two sources that differ only in what has no effect when they run.

It is the bytecode to which Python compiles the source, without its line numbers and without the names of variables that
one function alone uses. Before that are left out: texts that stand alone, as docstrings do; a constant at the top level
that nothing reads; what stands below `if __name__ == "__main__"`, which no check runs. A variable that is assigned in a
function's last line but one and returned in the last is left out too.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from types import CodeType

from grader.records.syntax import FUNCTIONS, is_text, walked

# With these a source can see what the normal form leaves out. torch.jit reads comments.
REVEALING = {"locals", "vars", "dir", "help", "eval", "exec", "compile", "globals", "jit"}
# The names with two underscores with which it cannot. Those of the first line are in the bytecode of every class.
HARMLESS = {
    "__module__", "__qualname__", "__class__", "__classcell__", "__annotations__", "__name__",
    "__init__", "__post_init__", "__call__", "__setattr__", "__getitem__", "__len__",
}  # fmt: skip
# Code that runs later, or again: it may read a variable after the last line of the function.
DEFERRED = (*FUNCTIONS, ast.Lambda, ast.GeneratorExp, ast.Try, ast.Global, ast.Nonlocal)
SCOPES = (*FUNCTIONS, ast.ClassDef)
VARARGS, VARKEYWORDS = 0x04, 0x08  # inspect.CO_VARARGS and its like; the helper process starts faster without inspect


def normal_form(source: str) -> str | None:
    """The normal form; None where the source does not compile, or may see what is left out.

    It is compared within one version of Python alone. A stranger's source is given to it only in functions that are
    `limited`, which end it where a source is too deep or too large.
    """
    try:
        tree = ast.parse(source)
        nodes = walked(tree)
        tree.body = _without_effectless(tree.body, nodes)
        for node in nodes:
            if isinstance(node, SCOPES):
                node.body = [line for line in node.body if not is_text(line)] or [ast.Pass()]
            if isinstance(node, FUNCTIONS):
                _return_at_once(node)
        for node in walked(tree):  # the layout of the lines has an effect on the bytecode
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = 1, 0, 1, 0  # type: ignore[attr-defined]
        codes = list(_codes(compile(tree, "", "exec", dont_inherit=True)))
        return None if any(map(_reveals, codes)) else repr([_facts(code) for code in codes])
    except (SyntaxError, ValueError):  # ValueError: a null character, or an int with thousands of digits
        return None


def _without_effectless(body: list[ast.stmt], nodes: list[ast.AST]) -> list[ast.stmt]:
    """The statements of the top level that have an effect. nodes: of the whole source."""
    named = Counter(name for node in nodes for name in _names(node))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return [
        statement
        for statement in body
        if not is_text(statement)
        and not (_is_main_guard(statement) and "__name__" not in stored)
        and not ((name := _constant(statement)) and named[name] == 1 and not name.startswith("__"))
    ]


def _names(node: ast.AST) -> Iterator[str]:
    """The names and texts in one node: a name that stands once in a source is read nowhere in it."""
    for field in node._fields:
        value = getattr(node, field, None)
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, str):
                yield from (item, item.partition(".")[0]) if "." in item else (item,)


def _constant(statement: ast.stmt) -> str:
    """The name to which a statement binds a constant, "" for any other statement."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.value, ast.Constant):
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _is_main_guard(statement: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__":` without an else. A check runs the source under another name."""
    if not isinstance(statement, ast.If) or statement.orelse or not isinstance(statement.test, ast.Compare):
        return False
    test = statement.test
    sides = [test.left, *test.comparators]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    texts = [side.value for side in sides if isinstance(side, ast.Constant)]
    return isinstance(test.ops[0], ast.Eq) and names == ["__name__"] and texts == ["__main__"]


def _return_at_once(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Make one statement of `y = f(x)` and `return y`, the last two of a function in which nothing else can read y."""
    assignment, last = [None, None, *function.body][-2:]
    if not isinstance(assignment, ast.Assign) or len(assignment.targets) != 1 or not isinstance(last, ast.Return):
        return
    target, result = assignment.targets[0], last.value
    if not isinstance(target, ast.Name) or not isinstance(result, ast.Name) or target.id != result.id:
        return
    nodes = [node for statement in function.body for node in walked(statement)]
    # Without an assignment a name that stands elsewhere would be the module's, unless it is an argument.
    is_argument = any(isinstance(node, ast.arg) and node.arg == target.id for node in walked(function.args))
    is_alone = sum(isinstance(node, ast.Name) and node.id == target.id for node in nodes) == 2
    if (is_argument or is_alone) and not any(isinstance(node, DEFERRED) for node in nodes):
        function.body[-2:] = [ast.Return(assignment.value)]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code and all code within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _reveals(code: CodeType) -> bool:
    """Whether the code names anything with which it could see what the normal form leaves out."""
    texts = [text for text in code.co_consts if isinstance(text, str)]
    return any(
        name in REVEALING or (name.startswith("__") and name not in HARMLESS) for name in (*code.co_names, *texts)
    )


def _facts(code: CodeType) -> tuple[object, ...]:
    """All that makes a code what it does. The names of captured variables stay: super() looks for one of them."""
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    rest = bool(code.co_flags & VARARGS) + bool(code.co_flags & VARKEYWORDS)
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + rest]
    constants = ["code" if isinstance(constant, CodeType) else constant for constant in code.co_consts]
    return (
        code.co_name, counts, arguments, code.co_names, code.co_freevars, code.co_cellvars,
        code.co_flags, constants, code.co_code, getattr(code, "co_exceptiontable", b""),
    )  # fmt: skip
